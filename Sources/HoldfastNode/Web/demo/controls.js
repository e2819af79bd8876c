// Keyboard and touch become one thing: {x, y, dash}, −127…127 each way.

const KEYS = {
  ArrowLeft: "left", KeyA: "left", ArrowRight: "right", KeyD: "right", ArrowUp: "up", KeyW: "up", ArrowDown: "down",
  KeyS: "down", Space: "dash", ShiftLeft: "dash", ShiftRight: "dash",
};
const REACH = 46; // pixels to full stick
const STEP = 16; // coarse enough that a resting thumb sends nothing

export class Controls {
  #held = new Set();
  #stick = { x: 0, y: 0 };
  #thumbDash = false;
  #last = "0,0,false";

  /** `changed` is called with each new value while `active()`. */
  constructor({ stick, knob, dash, active, changed }) {
    Object.assign(this, { active, changed });
    addEventListener("keydown", (event) => this.#key(event, true));
    addEventListener("keyup", (event) => this.#key(event, false));
    addEventListener("blur", () => this.release());
    this.#bindStick(stick, knob);
    this.#bindDash(dash);
  }

  get value() {
    const on = (name) => (this.#held.has(name) ? 127 : 0);
    const x = this.#stick.x || on("right") - on("left");
    const y = this.#stick.y || on("down") - on("up");
    return { x, y, dash: this.#thumbDash || this.#held.has("dash") };
  }

  release() {
    this.#held.clear();
    this.#stick = { x: 0, y: 0 };
    this.#thumbDash = false;
    this.#tell();
  }

  #tell() {
    const { x, y, dash } = this.value;
    const now = `${x},${y},${dash}`;
    if (now === this.#last) return;
    this.#last = now;
    this.changed();
  }

  #key(event, down) {
    const name = KEYS[event.code];
    if (!name || event.altKey || event.ctrlKey || event.metaKey) return;
    if (down && (!this.active() || event.target.closest?.("input, textarea, button, dialog"))) return;
    if (down) event.preventDefault();
    if (down) this.#held.add(name);
    else this.#held.delete(name);
    this.#tell();
  }

  #bindStick(pad, knob) {
    let origin = null;
    const move = (event) => {
      if (event.pointerId !== origin?.pointerId) return;
      const dx = event.clientX - origin.clientX, dy = event.clientY - origin.clientY;
      const scale = Math.min(1, REACH / (Math.hypot(dx, dy) || 1));
      knob.style.transform = `translate(${dx * scale}px, ${dy * scale}px)`;
      const coarse = (value) => {
        const steps = Math.round(((value * scale) / REACH) * 127 / STEP) * STEP;
        return Math.max(-127, Math.min(127, steps));
      };
      this.#stick = { x: coarse(dx), y: coarse(dy) };
      this.#tell();
    };
    const end = (event) => {
      if (event.pointerId !== origin?.pointerId) return;
      origin = null;
      knob.style.transform = "";
      this.#stick = { x: 0, y: 0 };
      this.#tell();
    };
    pad.addEventListener("pointerdown", (event) => {
      if (origin) return;
      pad.setPointerCapture(event.pointerId);
      origin = event;
      event.preventDefault();
    });
    pad.addEventListener("pointermove", move);
    pad.addEventListener("pointerup", end);
    pad.addEventListener("pointercancel", end);
  }

  #bindDash(button) {
    const set = (value) => (event) => {
      event.preventDefault();
      this.#thumbDash = value;
      button.classList.toggle("held", value);
      this.#tell();
    };
    button.addEventListener("pointerdown", set(true));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) button.addEventListener(name, set(false));
  }
}
