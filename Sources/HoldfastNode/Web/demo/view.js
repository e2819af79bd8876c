// Draws the arena: poses in, pixels out. Nothing here is part of the game's state.
import { ARENA, BUMPERS, COOLDOWN, COUNTDOWN, FRAME_RATE, PUCK_RADIUS, SPARK_RADIUS, UNIT } from "./sim.js";

export const COLORS = ["#56c7ff", "#ff9f5a", "#ff6fa8", "#8fe067", "#b69cff", "#43dfc0", "#ff7a70", "#dfe6f5"];
const SPARK = "#ffe28a";
const TRAIL = 16;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class View {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.size = 0;
    this.glows = new Map();
    this.reset();
    new ResizeObserver(() => this.#resize()).observe(canvas);
    this.#resize();
  }

  reset() {
    this.trails = new Map();
    this.particles = [];
    this.rings = [];
    this.bumped = new Map(BUMPERS.map((bumper) => [bumper, 0]));
    this.shake = 0;
    this.time = 0;
  }

  #resize() {
    const side = Math.round(this.canvas.clientWidth * Math.min(2, devicePixelRatio || 1));
    if (!side || side === this.size) return;
    this.size = this.canvas.width = this.canvas.height = side;
    this.scale = side / ARENA;
    this.glows.clear();
    this.#paintFloor();
  }

  /** `look` as from Game.look; `me` the own id or "", `nameOf` an id's name. */
  draw(look, ms, { me = "", nameOf = () => "" } = {}) {
    if (!this.size) return;
    const { context, scale } = this;
    this.time += ms;
    if (look.jumped) this.trails.clear();
    for (const one of look.seen) this.#notice(one, look.to, me);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.floor, 0, 0);
    const sway = calm.matches ? 0 : this.shake;
    this.shake = Math.max(0, this.shake - ms * 0.05);
    const wobble = [Math.sin(this.time * 0.09) * sway, Math.cos(this.time * 0.11) * sway];
    context.setTransform(scale, 0, 0, scale, wobble[0] * scale, wobble[1] * scale);
    this.#drawBumpers(ms);
    this.#drawRings(ms);
    const pucks = between(look.from.pucks, look.to.pucks, look.part);
    for (const puck of pucks) this.#drawTrail(puck);
    for (const spark of between(look.from.sparks, look.to.sparks, look.part)) this.#drawSpark(spark);
    for (const puck of pucks) this.#drawPuck(puck, puck.id === me);
    for (const puck of pucks) this.#drawLabel(puck, puck.id === me ? "You" : nameOf(puck.id));
    this.#drawParticles(ms);
    for (const id of this.trails.keys()) if (!pucks.some((puck) => puck.id === id)) this.trails.delete(id);
  }

  #paintFloor() {
    this.floor = document.createElement("canvas");
    this.floor.width = this.floor.height = this.size;
    const context = this.floor.getContext("2d");
    context.scale(this.scale, this.scale);
    const light = context.createRadialGradient(500, 460, 60, 500, 500, 760);
    light.addColorStop(0, "#243056");
    light.addColorStop(0.5, "#161e38");
    light.addColorStop(1, "#0d1222");
    context.fillStyle = light;
    context.fillRect(0, 0, ARENA, ARENA);
    context.fillStyle = "rgba(150, 175, 230, 0.2)";
    for (let x = 50; x < ARENA; x += 50) for (let y = 50; y < ARENA; y += 50) dot(context, x, y, 1.6);
    context.strokeStyle = "rgba(150, 175, 230, 0.14)";
    context.lineWidth = 2.5;
    for (const radius of [70, 220, 380]) {
      context.beginPath();
      context.arc(500, 500, radius, 0, 7);
      context.stroke();
    }
    context.lineWidth = 5;
    context.strokeStyle = "rgba(111, 140, 255, 0.3)";
    context.beginPath();
    context.roundRect(2, 2, ARENA - 4, ARENA - 4, (17 * ARENA) / this.canvas.clientWidth);
    context.stroke();
  }

  #notice({ kind, slot, by, x, y, worth, lost }, pose, me) {
    const at = { x: x / UNIT, y: y / UNIT };
    if (kind === "take") {
      this.#burst(at, COLORS[slot], worth > 1 ? 16 : 6, 0.12);
      this.rings.push({ ...at, color: SPARK, from: 12, to: worth > 1 ? 90 : 44, age: 0, life: 380 });
    } else if (kind === "hit") {
      const mine = pose.pucks.some((puck) => puck.id === me && (puck.slot === slot || puck.slot === by));
      this.#burst(at, COLORS[slot], 10 + lost * 3, 0.34);
      this.rings.push({ ...at, color: COLORS[by], from: 20, to: 130, age: 0, life: 460 });
      if (mine) this.shake = 11;
    } else if (kind === "dash") {
      this.rings.push({ ...at, color: COLORS[slot], from: 24, to: 72, age: 0, life: 300 });
    } else if (kind === "bump") {
      const bumper = BUMPERS.find((one) => one.x === at.x && one.y === at.y);
      if (bumper) this.bumped.set(bumper, 1);
    }
    if (this.rings.length > 40) this.rings.shift();
  }

  #burst({ x, y }, color, count, speed) {
    if (calm.matches) return;
    for (let n = 0; n < count && this.particles.length < 240; n++) {
      const turn = Math.random() * Math.PI * 2, pace = speed * (0.3 + Math.random());
      this.particles.push({
        x, y, vx: Math.cos(turn) * pace, vy: Math.sin(turn) * pace, color, age: 0, life: 300 + Math.random() * 400,
      });
    }
  }

  #drawBumpers(ms) {
    const { context } = this;
    for (const bumper of BUMPERS) {
      const bumped = this.bumped.get(bumper);
      this.bumped.set(bumper, Math.max(0, bumped - ms / 420));
      const { x, y, radius } = bumper;
      this.#glow("#6f8cff", x, y, radius * (1.7 + bumped), 0.25 + bumped * 0.6);
      context.fillStyle = "#1c2440";
      dot(context, x, y, radius);
      context.strokeStyle = bumped > 0.05 ? "#c9d5ff" : "#5a6ca8";
      context.lineWidth = 4 + bumped * 5;
      context.beginPath();
      context.arc(x, y, radius - 3, 0, 7);
      context.stroke();
      context.fillStyle = "#0f1424";
      dot(context, x, y, radius * 0.42);
    }
  }

  #drawRings(ms) {
    const { context } = this;
    this.rings = this.rings.filter((ring) => (ring.age += ms) < ring.life);
    for (const { x, y, color, from, to, age, life } of this.rings) {
      const part = age / life, ease = 1 - (1 - part) ** 3;
      context.globalAlpha = 1 - part;
      context.strokeStyle = color;
      context.lineWidth = 5 * (1 - part) + 0.5;
      context.beginPath();
      context.arc(x, y, from + (to - from) * ease, 0, 7);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  #drawTrail(puck) {
    const { context } = this;
    const trail = this.trails.get(puck.id) ?? [];
    trail.push({ x: puck.x, y: puck.y });
    if (trail.length > TRAIL) trail.shift();
    this.trails.set(puck.id, trail);
    const [tail, head] = [trail[0], trail.at(-1)];
    if (!puck.online || trail.length < 3 || Math.hypot(head.x - tail.x, head.y - tail.y) < 6) return;
    // One tapering shape: pieces laid over each other would show their seams.
    const width = (n) => (PUCK_RADIUS - 3) * (n / (trail.length - 1)) ** 0.8;
    const sides = trail.map(({ x, y }, n) => {
      const [a, b] = [trail[Math.max(0, n - 1)], trail[Math.min(trail.length - 1, n + 1)]];
      const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
      const [nx, ny] = [(-(b.y - a.y) / length) * width(n), ((b.x - a.x) / length) * width(n)];
      return [x + nx, y + ny, x - nx, y - ny];
    });
    const fade = context.createLinearGradient(tail.x, tail.y, head.x, head.y);
    fade.addColorStop(0, `${COLORS[puck.slot]}00`);
    fade.addColorStop(1, `${COLORS[puck.slot]}${puck.dashing > 0 ? "bb" : "66"}`);
    context.fillStyle = fade;
    context.beginPath();
    for (const [x, y] of sides) context.lineTo(x, y);
    for (const [, , x, y] of sides.reverse()) context.lineTo(x, y);
    context.fill();
  }

  #drawSpark({ id, x, y, worth, fresh }) {
    const { context } = this;
    const beat = calm.matches ? 0 : Math.sin(this.time * 0.005 + id * 1.7);
    const radius = (worth > 1 ? 17 : SPARK_RADIUS) * (1 + beat * 0.1);
    this.#glow(SPARK, x, y, radius * 3.2, fresh > 0 ? 0.25 : 0.5 + beat * 0.12);
    context.fillStyle = fresh > 0 ? "#b59a55" : worth > 1 ? "#fff3c4" : SPARK;
    context.save();
    context.translate(x, y);
    context.rotate(calm.matches ? 0 : this.time * 0.0008 + id);
    star(context, radius, worth > 1 ? 6 : 4);
    context.restore();
  }

  #drawPuck(puck, own) {
    const { context } = this;
    const { x, y, slot, fx, fy, stun, immune, cooldown, dashing, online, score } = puck;
    const color = COLORS[slot];
    context.globalAlpha = online ? (immune > 0 && stun === 0 && Math.floor(immune / 4) % 2 ? 0.55 : 1) : 0.32;
    if (online) this.#glow(color, x, y, PUCK_RADIUS * (dashing > 0 ? 3.3 : 2.3), dashing > 0 ? 0.75 : 0.42);
    const way = Math.atan2(fy, fx);
    context.fillStyle = color;
    context.beginPath();
    context.moveTo(x + Math.cos(way) * (PUCK_RADIUS + 13), y + Math.sin(way) * (PUCK_RADIUS + 13));
    context.arc(x, y, PUCK_RADIUS, way + 0.5, way - 0.5);
    context.fill();
    context.fillStyle = stun > 0 ? "#3a4157" : "#0c101c";
    dot(context, x, y, PUCK_RADIUS - 6);
    if (own) {
      const ready = 1 - cooldown / COOLDOWN;
      context.strokeStyle = ready >= 1 ? "#ffffff" : "rgba(255, 255, 255, 0.55)";
      context.lineWidth = 4;
      context.beginPath();
      context.arc(x, y, PUCK_RADIUS + 8, -Math.PI / 2, -Math.PI / 2 + Math.PI * 2 * ready);
      context.stroke();
    }
    context.fillStyle = stun > 0 ? "#aab3c8" : color;
    context.font = `700 ${score > 99 ? 19 : 23}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(stun > 0 ? "×" : String(score), x, y + 1.5);
    context.globalAlpha = 1;
  }

  #drawLabel({ x, y, online }, name) {
    if (!name) return;
    const { context } = this;
    const size = Math.max(18, 11 * (ARENA / (this.canvas.clientWidth || ARENA))); // readable on a small screen
    context.font = `600 ${size}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.globalAlpha = online ? 0.9 : 0.5;
    context.fillStyle = "#dbe3f5";
    const above = y > ARENA - 90 ? -1 : 1;
    const text = online ? name : `${name} · away`;
    const half = context.measureText(text).width / 2 + 8;
    const middle = Math.min(ARENA - half, Math.max(half, x));
    context.fillText(text, middle, y + above * (PUCK_RADIUS + 14 + size * 0.7));
    context.globalAlpha = 1;
  }

  #drawParticles(ms) {
    const { context } = this;
    this.particles = this.particles.filter((one) => (one.age += ms) < one.life);
    for (const one of this.particles) {
      one.x += one.vx * ms;
      one.y += one.vy * ms;
      one.vx *= 0.95;
      one.vy *= 0.95;
      context.globalAlpha = 1 - one.age / one.life;
      context.fillStyle = one.color;
      dot(context, one.x, one.y, 4);
    }
    context.globalAlpha = 1;
  }

  #glow(color, x, y, radius, strength) {
    const { context } = this;
    if (!this.glows.has(color)) this.glows.set(color, glowOf(color));
    const before = context.globalAlpha;
    context.globalAlpha = before * strength;
    context.drawImage(this.glows.get(color), x - radius, y - radius, radius * 2, radius * 2);
    context.globalAlpha = before;
  }
}

/** Seconds until play begins (3, 2, 1, then 0) and of play that are left. */
export function clockOf({ tick, length }) {
  const before = Math.max(0, Math.ceil((COUNTDOWN - tick) / FRAME_RATE));
  const left = Math.max(0, Math.ceil((length - Math.max(0, tick - COUNTDOWN)) / FRAME_RATE));
  return { before, left, fresh: tick > COUNTDOWN && tick < COUNTDOWN + FRAME_RATE };
}

function between(from, to, part) {
  const earlier = new Map(from.map((one) => [one.id, one]));
  return to.map((one) => {
    const before = earlier.get(one.id) ?? one;
    const mix = (a, b) => (a + (b - a) * part) / UNIT;
    return { ...one, x: mix(before.x, one.x), y: mix(before.y, one.y) };
  });
}

function dot(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.fill();
}

function star(context, radius, points) {
  context.beginPath();
  for (let n = 0; n < points * 2; n++) {
    const turn = (n * Math.PI) / points, reach = n % 2 ? radius * 0.5 : radius * 1.25;
    context.lineTo(Math.cos(turn) * reach, Math.sin(turn) * reach);
  }
  context.closePath();
  context.fill();
}

function glowOf(color) {
  const side = 128;
  const sprite = document.createElement("canvas");
  sprite.width = sprite.height = side;
  const context = sprite.getContext("2d");
  const light = context.createRadialGradient(64, 64, 0, 64, 64, 64);
  light.addColorStop(0, color);
  light.addColorStop(0.35, `${color}88`);
  light.addColorStop(1, `${color}00`);
  context.fillStyle = light;
  context.fillRect(0, 0, side, side);
  return sprite;
}
