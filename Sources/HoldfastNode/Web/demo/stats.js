// What the link looks like from here: frame number, delays, resumes. Numbers for the panel and a strip of intervals.
import { FRAME_RATE } from "./sim.js";

const KEPT = 72; // frames in the strip
const NOMINAL = 1000 / FRAME_RATE;

export class Stats {
  constructor(panel, strip) {
    this.fields = Object.fromEntries([...panel.querySelectorAll("[data-stat]")].map((one) => [one.dataset.stat, one]));
    this.strip = strip;
    this.resumes = 0;
    this.restart();
  }

  /** A new frame sync. */
  restart() {
    this.intervals = []; // {ms, made up for}
    this.lastAt = 0;
    this.delay = 0;
    this.caughtUp = 0;
    this.frame = 0;
  }

  frameCame(now, { id, catchingUp }) {
    this.frame = id;
    if (catchingUp) this.caughtUp++;
    if (this.lastAt) this.intervals.push({ ms: now - this.lastAt, catchingUp });
    if (this.intervals.length > KEPT) this.intervals.shift();
    this.lastAt = now;
  }

  inputCame(ms) {
    this.delay = this.delay ? this.delay * 0.7 + ms * 0.3 : ms;
  }

  /** Mean distance from the nominal interval over the live frames shown. */
  get jitter() {
    const live = this.intervals.filter(({ catchingUp }) => !catchingUp);
    if (!live.length) return 0;
    return live.reduce((sum, { ms }) => sum + Math.abs(ms - NOMINAL), 0) / live.length;
  }

  show({ roundTripMs, hash, inStep }) {
    const ms = (value) => (value ? `${value < 1 ? "<1" : Math.round(value)} ms` : "–");
    this.#set("frame", this.frame ? this.frame.toLocaleString("en") : "–");
    this.#set("delay", ms(this.delay));
    this.#set("interval", this.intervals.length ? `${Math.round(NOMINAL)} ± ${this.jitter.toFixed(1)} ms` : "–");
    this.#set("trip", ms(roundTripMs));
    this.#set("resumes", String(this.resumes));
    this.#set("caught", String(this.caughtUp));
    this.#set("hash", hash ? hash.slice(0, 8) : "–");
    this.fields.hash.classList.toggle("bad", !inStep);
    this.#draw();
  }

  #set(name, text) {
    const field = this.fields[name];
    if (field && field.textContent !== text) field.textContent = text;
  }

  #draw() {
    const { strip } = this;
    const scale = devicePixelRatio || 1;
    const width = strip.clientWidth, height = strip.clientHeight;
    if (!width) return;
    if (strip.width !== Math.round(width * scale)) [strip.width, strip.height] = [width * scale, height * scale];
    const context = strip.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    const step = width / KEPT;
    this.intervals.forEach(({ ms, catchingUp }, index) => {
      const tall = Math.max(2, Math.min(1, ms / (NOMINAL * 3)) * height);
      context.fillStyle = catchingUp ? "#b69cff" : ms > NOMINAL * 2 ? "#ffb454" : "#3f4a63";
      context.fillRect((KEPT - this.intervals.length + index) * step, height - tall, Math.max(1, step - 1), tall);
    });
  }
}
