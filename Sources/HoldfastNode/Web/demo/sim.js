// Scatter's simulation: the same frames give the same state on every machine. Integers only, no clock, and no
// randomness but the frame sync's seed.
import { LockstepRandom } from "../sdk/holdfast.js";

export const FRAME_RATE = 30;
export const ARENA = 1000; // its side in units
export const UNIT = 1024; // positions and speeds are in 1/1024 of a unit
export const PUCK_RADIUS = 27;
export const SPARK_RADIUS = 9;
export const SEATS = 8;
export const COUNTDOWN = 3 * FRAME_RATE;
export const COOLDOWN = 45; // frames from one dash to the next
export const BUMPERS = [[300, 300], [700, 300], [300, 700], [700, 700]].map(([x, y]) => ({ x, y, radius: 42 }));

const SUBSTEPS = 3;
const ACCELERATION = 135; // a substep, at full stick
const DRAG = 26; // of 1024, a substep
const DASH_SPEED = 10_500;
const DASH_FRAMES = 12;
const STUN_FRAMES = 18;
const IMMUNE_FRAMES = 36;
const SPARKS_AT_MOST = 60;
const FRENZY = 15 * FRAME_RATE; // the last part of a round: sparks come twice as fast
const FRESH_FRAMES = 9; // a scattered spark cannot be taken at once

// Places around the middle, by seat.
const STARTS = [[500, 130], [500, 870], [130, 500], [870, 500], [762, 238], [238, 762], [238, 238], [762, 762]];

/** The state before frame 1. `players` in seat order, `seconds` of play. */
export function createState({ seed, players, seconds }) {
  const random = new LockstepRandom(seed);
  const state = { tick: 0, random: random.state, length: seconds * FRAME_RATE, made: 0, pucks: [], sparks: [] };
  for (const { id, online } of players) addPuck(state, id, online);
  for (let n = 0; n < 10; n++) dropSpark(state, random, 1);
  state.random = random.state;
  return state;
}

/** When the round is over, in frames; from then on the state stands still. */
export const endTick = (state) => COUNTDOWN + state.length;
export const isOver = (state) => state.tick >= endTick(state);

/** What a player's controls are as an input: −127…127 each way, and whether dash is held. */
export const encodeControls = ({ x, y, dash }) => Uint8Array.of(x + 128, y + 128, dash ? 1 : 0);

/** Plays one frame. Returns what happened in it, for the eye only. */
export function step(state, frame) {
  if (isOver(state)) return [];
  if (frame.id !== state.tick + 1) throw new RangeError(`frame ${frame.id} after ${state.tick}`);
  state.tick = frame.id;
  const seen = [];
  const random = new LockstepRandom(state.random);
  for (const { playerId, kind } of frame.changes) changeSeat(state, playerId, kind, random);
  for (const input of frame.inputs) applyInput(state, input);
  if (state.tick > COUNTDOWN) {
    for (const puck of state.pucks) countDown(puck, seen);
    for (let n = 0; n < SUBSTEPS; n++) {
      for (const puck of state.pucks) movePuck(puck, seen);
      for (const spark of state.sparks) moveSpark(spark);
      meet(state, random, seen);
    }
    for (const spark of state.sparks) if (spark.fresh > 0) spark.fresh--;
    gather(state, seen);
    spawn(state, random);
  }
  state.random = random.state;
  return seen;
}

/** Best first; equal scores keep the seats' order. */
export function ranking(state) {
  return [...state.pucks].sort((a, b) => b.score - a.score || a.slot - b.slot);
}

function addPuck(state, id, online) {
  if (state.pucks.some((puck) => puck.id === id) || state.pucks.length >= SEATS) return;
  let slot = 0;
  while (state.pucks.some((puck) => puck.slot === slot)) slot++;
  const [x, y] = STARTS[slot];
  const facing = direction(500 - x, 500 - y);
  state.pucks.push({
    id, slot, x: x * UNIT, y: y * UNIT, vx: 0, vy: 0, fx: facing.x, fy: facing.y, ax: 0, ay: 0, dash: 0,
    dashing: 0, cooldown: 0, stun: 0, immune: 0, score: 0, online: online ? 1 : 0,
  });
}

function changeSeat(state, id, kind, random) {
  const puck = state.pucks.find((one) => one.id === id);
  if (kind === 0) addPuck(state, id, true);
  if (!puck) return;
  if (kind === 1 || kind === 4) {
    scatter(state, puck, Math.min(puck.score, 12), random);
    state.pucks = state.pucks.filter((one) => one !== puck);
  } else if (kind !== 0) {
    puck.online = kind === 3 ? 1 : 0;
    puck.ax = puck.ay = puck.dash = 0;
  }
}

function applyInput(state, { playerId, dataBytes }) {
  const puck = state.pucks.find((one) => one.id === playerId);
  if (!puck || dataBytes?.length !== 3) return;
  puck.ax = clamp(dataBytes[0] - 128, -127, 127);
  puck.ay = clamp(dataBytes[1] - 128, -127, 127);
  puck.dash = dataBytes[2] & 1;
}

function countDown(puck, seen) {
  for (const timer of ["dashing", "cooldown", "stun", "immune"]) if (puck[timer] > 0) puck[timer]--;
  if (puck.stun === 0 && (puck.ax !== 0 || puck.ay !== 0)) {
    const facing = direction(puck.ax, puck.ay);
    puck.fx = facing.x;
    puck.fy = facing.y;
  }
  if (!puck.dash || puck.cooldown > 0 || puck.stun > 0) return;
  puck.vx += divide(puck.fx * DASH_SPEED, UNIT);
  puck.vy += divide(puck.fy * DASH_SPEED, UNIT);
  puck.dashing = DASH_FRAMES;
  puck.cooldown = COOLDOWN;
  seen.push({ kind: "dash", slot: puck.slot, x: puck.x, y: puck.y });
}

function movePuck(puck, seen) {
  if (puck.stun === 0) {
    // A diagonal on the keyboard is not faster than the straight way.
    const length = Math.max(127, root(puck.ax * puck.ax + puck.ay * puck.ay));
    puck.vx += divide(puck.ax * ACCELERATION, length);
    puck.vy += divide(puck.ay * ACCELERATION, length);
  }
  glide(puck, PUCK_RADIUS, DRAG);
  for (const bumper of BUMPERS) {
    const speed = bounceOff(puck, bumper, PUCK_RADIUS + bumper.radius);
    if (speed > 1500) seen.push({ kind: "bump", x: bumper.x * UNIT, y: bumper.y * UNIT });
  }
}

function moveSpark(spark) {
  if (spark.vx === 0 && spark.vy === 0) return;
  glide(spark, SPARK_RADIUS, 30);
  for (const bumper of BUMPERS) bounceOff(spark, bumper, SPARK_RADIUS + bumper.radius);
}

function glide(body, radius, drag) {
  body.vx -= divide(body.vx * drag, 1024);
  body.vy -= divide(body.vy * drag, 1024);
  if (Math.abs(body.vx) < 12) body.vx = 0;
  if (Math.abs(body.vy) < 12) body.vy = 0;
  body.x += body.vx;
  body.y += body.vy;
  const low = radius * UNIT, high = (ARENA - radius) * UNIT;
  if (body.x < low || body.x > high) {
    body.x = clamp(body.x, low, high);
    body.vx = -divide(body.vx * 4, 5);
  }
  if (body.y < low || body.y > high) {
    body.y = clamp(body.y, low, high);
    body.vy = -divide(body.vy * 4, 5);
  }
}

/** Returns the speed of the impact, 0 for none. */
function bounceOff(body, bumper, reach) {
  const dx = body.x - bumper.x * UNIT, dy = body.y - bumper.y * UNIT;
  const apart = distanceWithin(dx, dy, reach * UNIT);
  if (apart < 0) return 0;
  const n = apart === 0 ? { x: UNIT, y: 0 } : { x: divide(dx * UNIT, apart), y: divide(dy * UNIT, apart) };
  body.x = bumper.x * UNIT + n.x * reach;
  body.y = bumper.y * UNIT + n.y * reach;
  const into = divide(body.vx * n.x + body.vy * n.y, UNIT);
  if (into >= 0) return 0;
  body.vx -= divide(n.x * into * 9, UNIT * 4);
  body.vy -= divide(n.y * into * 9, UNIT * 4);
  return -into;
}

function meet(state, random, seen) {
  const { pucks } = state;
  for (let i = 0; i < pucks.length; i++) {
    for (let j = i + 1; j < pucks.length; j++) {
      const a = pucks[i], b = pucks[j];
      const dx = b.x - a.x, dy = b.y - a.y;
      const reach = 2 * PUCK_RADIUS * UNIT;
      const apart = distanceWithin(dx, dy, reach);
      if (apart < 0) continue;
      const n = apart === 0 ? { x: UNIT, y: 0 } : { x: divide(dx * UNIT, apart), y: divide(dy * UNIT, apart) };
      const push = divide(reach - apart, 2);
      a.x -= divide(n.x * push, UNIT);
      a.y -= divide(n.y * push, UNIT);
      b.x += divide(n.x * push, UNIT);
      b.y += divide(n.y * push, UNIT);
      const closing = divide((a.vx - b.vx) * n.x + (a.vy - b.vy) * n.y, UNIT);
      if (closing <= 0) continue;
      const impulse = divide(closing * 19, 20);
      a.vx -= divide(n.x * impulse, UNIT);
      a.vy -= divide(n.y * impulse, UNIT);
      b.vx += divide(n.x * impulse, UNIT);
      b.vy += divide(n.y * impulse, UNIT);
      if (a.dashing > 0 && b.dashing === 0) strike(state, a, b, random, seen);
      if (b.dashing > 0 && a.dashing === 0) strike(state, b, a, random, seen);
    }
  }
}

function strike(state, by, hit, random, seen) {
  if (hit.immune > 0) return;
  const lost = Math.min(6, divide(hit.score + 2, 3));
  hit.stun = STUN_FRAMES;
  hit.immune = IMMUNE_FRAMES;
  scatter(state, hit, lost, random);
  seen.push({ kind: "hit", by: by.slot, slot: hit.slot, lost, x: hit.x, y: hit.y });
}

function scatter(state, puck, count, random) {
  puck.score -= count;
  for (let n = 0; n < count && state.sparks.length < SPARKS_AT_MOST; n++) {
    const away = direction(random.below(2001) - 1000, random.below(2001) - 1000);
    const speed = 4000 + random.below(5000);
    state.sparks.push({
      id: ++state.made, x: puck.x, y: puck.y, vx: divide(away.x * speed, UNIT), vy: divide(away.y * speed, UNIT),
      worth: 1, fresh: FRESH_FRAMES,
    });
  }
}

function gather(state, seen) {
  const reach = (PUCK_RADIUS + SPARK_RADIUS + 4) * UNIT;
  const left = [];
  for (const spark of state.sparks) {
    let taker = null, nearest = reach;
    for (const puck of state.pucks) {
      if (spark.fresh > 0 || puck.stun > 0 || !puck.online) continue;
      const apart = distanceWithin(spark.x - puck.x, spark.y - puck.y, reach);
      if (apart >= 0 && apart < nearest) [taker, nearest] = [puck, apart];
    }
    if (!taker) {
      left.push(spark);
      continue;
    }
    taker.score += spark.worth;
    seen.push({ kind: "take", slot: taker.slot, worth: spark.worth, x: spark.x, y: spark.y });
  }
  state.sparks = left;
}

function spawn(state, random) {
  const played = state.tick - COUNTDOWN;
  const every = state.length - played < FRENZY ? 8 : 16;
  if (played % every === 0 && state.sparks.length < 8 + 3 * state.pucks.length) dropSpark(state, random, 1);
  if (played % (8 * FRAME_RATE) === 0 && state.sparks.length < SPARKS_AT_MOST) dropSpark(state, random, 5);
}

function dropSpark(state, random, worth) {
  const inner = worth > 1;
  const x = inner ? 430 + random.below(141) : 50 + random.below(901);
  const y = inner ? 430 + random.below(141) : 50 + random.below(901);
  const covered = BUMPERS.some((one) => distanceWithin(x - one.x, y - one.y, one.radius + 24) >= 0);
  if (!covered) state.sparks.push({ id: ++state.made, x: x * UNIT, y: y * UNIT, vx: 0, vy: 0, worth, fresh: 0 });
}

// ------------------------------------------------------------------------------------------------ whole numbers only

const divide = (a, b) => Math.trunc(a / b) + 0; // + 0: a negative zero would be another state to the eye of a hash
const clamp = (value, low, high) => (value < low ? low : value > high ? high : value);

/** The whole part of the square root of a whole number below 2^52. */
export function root(value) {
  if (value < 2) return value;
  let guess = 1;
  while (guess * guess < value) guess *= 2;
  for (;;) {
    const better = Math.floor((guess + Math.floor(value / guess)) / 2);
    if (better >= guess) return guess;
    guess = better;
  }
}

/** −1 when it is not below `limit`. */
function distanceWithin(dx, dy, limit) {
  if (dx >= limit || dx <= -limit || dy >= limit || dy <= -limit) return -1;
  const square = dx * dx + dy * dy;
  return square < limit * limit ? root(square) : -1;
}

/** The same way at length UNIT. */
function direction(x, y) {
  const length = root(x * x + y * y);
  return length === 0 ? { x: UNIT, y: 0 } : { x: divide(x * UNIT, length), y: divide(y * UNIT, length) };
}

// ------------------------------------------------------------------------------------------------ snapshots and hashes

const PUCK_FIELDS = [
  "slot", "x", "y", "vx", "vy", "fx", "fy", "ax", "ay", "dash", "dashing", "cooldown", "stun", "immune", "score",
  "online",
];
const SPARK_FIELDS = ["id", "x", "y", "vx", "vy", "worth", "fresh"];
const VERSION = 1;

/** The whole state as bytes: int32 little endian, ids as length and UTF-8. */
export function serialize(state) {
  const ids = state.pucks.map(({ id }) => new TextEncoder().encode(id));
  const idBytes = ids.reduce((sum, id) => sum + 4 + id.length, 0);
  const numbers = 7 + state.pucks.length * PUCK_FIELDS.length + state.sparks.length * SPARK_FIELDS.length;
  const bytes = new Uint8Array(numbers * 4 + idBytes);
  const view = new DataView(bytes.buffer);
  let at = 0;
  const put = (value) => {
    view.setInt32(at, value, true);
    at += 4;
  };
  const { tick, random, length, made, pucks, sparks } = state;
  [VERSION, tick, random, length, made, pucks.length, sparks.length].forEach(put);
  state.pucks.forEach((puck, index) => {
    put(ids[index].length);
    bytes.set(ids[index], at);
    at += ids[index].length;
    for (const field of PUCK_FIELDS) put(puck[field]);
  });
  for (const spark of state.sparks) for (const field of SPARK_FIELDS) put(spark[field]);
  return bytes;
}

/** The state from a snapshot. Throws a RangeError on bytes that are none. */
export function restore(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const take = () => {
    at += 4;
    return view.getInt32(at - 4, true);
  };
  if (take() !== VERSION) throw new RangeError("a snapshot of another version");
  const state = { tick: take(), random: take() >>> 0, length: take(), made: take(), pucks: [], sparks: [] };
  const [pucks, sparks] = [take(), take()];
  if (pucks < 0 || pucks > SEATS || sparks < 0 || sparks > 4 * SPARKS_AT_MOST) throw new RangeError("not a snapshot");
  for (let n = 0; n < pucks; n++) {
    const length = take();
    if (length < 0 || at + length > bytes.length) throw new RangeError("not a snapshot");
    const puck = { id: new TextDecoder().decode(bytes.subarray(at, at + length)) };
    at += length;
    for (const field of PUCK_FIELDS) puck[field] = take();
    state.pucks.push(puck);
  }
  for (let n = 0; n < sparks; n++) state.sparks.push(Object.fromEntries(SPARK_FIELDS.map((field) => [field, take()])));
  return state;
}

/** FNV-1a, 64 bits, over the whole state: 16 hexadecimal digits. */
export function hashOf(state) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of serialize(state)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return hash.toString(16).padStart(16, "0");
}

export function hashBytes(hex) {
  return Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
}
