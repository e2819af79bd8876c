import assert from "node:assert/strict";
import { test } from "node:test";
import { decide } from "../../Sources/HoldfastNode/Web/demo/bot.js";
import {
  COUNTDOWN, FRAME_RATE, createState, encodeControls, endTick, hashBytes, hashOf, isOver, ranking, restore, root,
  serialize, step,
} from "../../Sources/HoldfastNode/Web/demo/sim.js";

const players = (count) => Array.from({ length: count }, (_, n) => ({ id: `p${n} ü`, online: true }));

/** A whole round's frames, with players who steer, leave, drop and enter. */
function record(seed, count, seconds) {
  const state = createState({ seed, players: players(count), seconds });
  const frames = [];
  let noise = seed >>> 0;
  const chance = (one) => (noise = (Math.imul(noise, 1664525) + 1013904223) >>> 0) % one === 0;
  while (!isOver(state)) {
    const frame = { id: state.tick + 1, inputs: [], changes: [] };
    for (const { id } of state.pucks) {
      if (chance(3)) frame.inputs.push({ playerId: id, dataBytes: encodeControls(decide(state, id, noise)) });
    }
    if (chance(200)) frame.changes.push({ playerId: `late${frame.id}`, kind: 0 });
    if (chance(300)) frame.changes.push({ playerId: state.pucks[0].id, kind: chance(2) ? 1 : 2 });
    if (chance(300)) frame.changes.push({ playerId: state.pucks[0].id, kind: 3 });
    frames.push(frame);
    step(state, frame);
    for (const thing of [state, ...state.pucks, ...state.sparks]) {
      for (const value of Object.values(thing)) {
        if (typeof value === "number") assert.ok(Number.isSafeInteger(value) && !Object.is(value, -0), `${value}`);
      }
    }
  }
  return { frames, hash: hashOf(state), state };
}

test("the same frames give the same hash in every instance, other frames another", () => {
  for (const seed of [1, -1, 0x7fffffff]) {
    const { frames, hash } = record(seed, 6, 30);
    const again = createState({ seed, players: players(6), seconds: 30 });
    for (const frame of frames) step(again, frame);
    assert.equal(hashOf(again), hash);
    const other = createState({ seed, players: players(6), seconds: 30 });
    const still = (id) => id > COUNTDOWN && id < COUNTDOWN + 60;
    for (const frame of frames) step(other, still(frame.id) ? { ...frame, inputs: [] } : frame);
    assert.notEqual(hashOf(other), hash);
  }
});

test("a snapshot taken at any frame leads to the same end", () => {
  const { frames, hash } = record(42, 5, 20);
  for (const at of [0, 1, COUNTDOWN, COUNTDOWN + 1, 200, 399, frames.length]) {
    const first = createState({ seed: 42, players: players(5), seconds: 20 });
    for (const frame of frames.slice(0, at)) step(first, frame);
    const second = restore(serialize(first));
    assert.deepEqual(second, first);
    for (const frame of frames.slice(at)) step(second, frame);
    assert.equal(hashOf(second), hash, `snapshot at ${at}`);
  }
});

test("snapshots stay far below 64 KiB", () => {
  const { state } = record(3, 8, 60);
  assert.ok(serialize(state).length < 8192);
});

test("bytes that are no snapshot are refused", () => {
  const bytes = serialize(createState({ seed: 1, players: players(2), seconds: 10 }));
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => restore(bytes.slice(0, length)), RangeError);
  }
  assert.throws(() => restore(new Uint8Array(64).fill(255)), RangeError);
});

test("inputs of strangers and of the wrong form change nothing", () => {
  const one = createState({ seed: 1, players: players(2), seconds: 10 });
  const two = createState({ seed: 1, players: players(2), seconds: 10 });
  step(one, { id: 1, inputs: [], changes: [] });
  step(two, {
    id: 1, changes: [{ playerId: "nobody", kind: 1 }],
    inputs: [
      { playerId: "stranger", dataBytes: encodeControls({ x: 1, y: 1, dash: true }) }, { playerId: "p0 ü", data: "x" },
      { playerId: "p0 ü", dataBytes: new Uint8Array(9) },
    ],
  });
  assert.equal(hashOf(one), hashOf(two));
});

test("a round ends after its time and then stands still", () => {
  const { state, hash } = record(7, 3, 10);
  assert.equal(state.tick, COUNTDOWN + 10 * FRAME_RATE);
  assert.equal(state.tick, endTick(state));
  step(state, { id: state.tick + 1, inputs: [], changes: [{ playerId: "p1 ü", kind: 1 }] });
  assert.equal(hashOf(state), hash);
});

test("players score, and dashes scatter", () => {
  const state = createState({ seed: 5, players: players(4), seconds: 60 });
  const kinds = new Set();
  while (!isOver(state)) {
    const inputs = state.pucks.map(({ id, slot }) => ({
      playerId: id, dataBytes: encodeControls(decide(state, id, slot)),
    }));
    for (const { kind } of step(state, { id: state.tick + 1, inputs, changes: [] })) kinds.add(kind);
  }
  assert.ok(ranking(state)[0].score > 5, String(ranking(state)[0].score));
  assert.deepEqual([...kinds].sort(), ["bump", "dash", "hit", "take"]);
});

test("frames are taken in their order only", () => {
  const state = createState({ seed: 1, players: players(2), seconds: 10 });
  assert.throws(() => step(state, { id: 2, inputs: [], changes: [] }), RangeError);
});

test("root is the whole part of the square root", () => {
  for (const value of [0, 1, 2, 3, 4, 15, 16, 17, 2 ** 31, 2 ** 40 - 1, 94906265 ** 2 - 1]) {
    const result = root(value);
    assert.ok(result * result <= value && (result + 1) ** 2 > value, `${value} → ${result}`);
  }
});

test("the hash is FNV-1a of 64 bits", () => {
  assert.deepEqual([...hashBytes("00ff10")], [0, 255, 16]);
  assert.match(hashOf(createState({ seed: 1, players: [], seconds: 10 })), /^[0-9a-f]{16}$/);
});
