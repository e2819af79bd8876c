// The SDK over real sockets against a running node: HOLDFAST_URL=http://127.0.0.1:7350 node --experimental-websocket
// --test Tests/web/live.test.mjs. Without the variable there is nothing to test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { HoldfastClient } from "../../Sources/HoldfastNode/Web/sdk/holdfast.js";

const url = process.env.HOLDFAST_URL;
const live = { skip: url ? false : "HOLDFAST_URL is not set", timeout: 60_000 };
const type = `live-${Math.random().toString(36).slice(2, 10)}`;

/** A connected client that keeps its events. */
async function player(t, name) {
  const id = `${name}-${type}-${Math.random().toString(36).slice(2, 8)}`;
  const get = async () => (await fetch(`${url}/dev/token?player=${id}`)).json();
  const { url: socket } = await get();
  const client = new HoldfastClient({ url: socket, token: async () => (await get()).token });
  client.seen = [];
  for (const event of [
    "playerEntered", "playerLeft", "playerOffline", "playerOnline", "playerKicked", "roomOwnerChanged",
    "roomPropertiesChanged", "playerCustomStatusChanged", "playerCustomPropertiesChanged", "roomDismissed",
    "customMessageReceived", "frameSyncStarted", "frame", "frameSyncStopped", "desyncDetected", "reconnected",
    "disconnected", "refused", "framesLost",
  ]) client.on(event, (body) => client.seen.push({ event, body }));
  await client.connect();
  t.after(() => client.disconnect());
  return client;
}

/** Waits for an event, also one that has come already. */
async function event(client, name, holds = () => true) {
  const found = () => client.seen.find((one) => one.event === name && holds(one.body));
  while (!found()) await new Promise((resolve) => client.once(name, resolve));
  return found().body;
}

const frames = (client) => client.seen.filter((one) => one.event === "frame").map(({ body }) => body);
const config = (more = {}) => ({ type, maxPlayerCount: 4, frameRate: 30, allowLateJoin: true, ...more });

test("rooms: create, list, join, change, message, transfer, kick, dismiss", live, async (t) => {
  const [ada, bo, eve] = [await player(t, "ada"), await player(t, "bo"), await player(t, "eve")];
  const { room } = await ada.createRoom(config({ name: "first" }), { customStatus: 3 });
  assert.equal(room.players[0].customStatus, 3);
  await bo.joinRoom(room.id, { player: { customProperties: "{}" } });
  assert.equal((await event(ada, "playerEntered")).player.id, bo.playerId);
  assert.deepEqual(ada.room.players.map(({ id }) => id), [ada.playerId, bo.playerId]);

  let rooms = [];
  for (let n = 0; n < 20 && rooms[0]?.playerCount !== 2; n++) {
    await new Promise((resolve) => setTimeout(resolve, 150)); // the list may lag by a second
    ({ rooms } = await eve.getRoomList({ roomType: type }));
  }
  assert.deepEqual(rooms.map(({ id, playerCount }) => [id, playerCount]), [[room.id, 2]]);
  const matched = await eve.matchRoom(config());
  assert.equal(matched.room.id, room.id);

  await ada.updateRoomProperties({ name: "second" });
  assert.equal((await event(bo, "roomPropertiesChanged")).name, "second");
  await bo.updatePlayerCustomStatus(-7);
  assert.equal((await event(ada, "playerCustomStatusChanged")).status, -7);
  await bo.updatePlayerCustomProperties("x");
  await event(ada, "playerCustomPropertiesChanged");
  assert.equal(ada.room.players[1].customProperties, "x");
  await ada.sendCustomMessage("to all");
  await ada.sendCustomMessage("to bo", { receivers: [bo.playerId] });
  await event(bo, "customMessageReceived", ({ msg }) => msg === "to bo");
  assert.equal((await event(eve, "customMessageReceived")).msg, "to all");
  assert.equal(eve.seen.filter((one) => one.event === "customMessageReceived").length, 1);

  await assert.rejects(bo.kickRoomPlayer(eve.playerId), { code: 22, name: "notOwner" });
  await ada.transferRoomOwner(bo.playerId);
  await event(bo, "roomOwnerChanged");
  assert.equal(bo.isOwner, true);
  await bo.kickRoomPlayer(eve.playerId, { ban: true });
  assert.equal((await event(eve, "playerKicked")).playerId, eve.playerId);
  assert.equal(eve.room, null);
  await assert.rejects(eve.joinRoom(room.id), { code: 32 });
  await bo.dismissRoom();
  await event(ada, "roomDismissed");
  assert.equal(ada.room, null);
  await assert.rejects(ada.leaveRoom(), { code: 20 });
});

test("matching waits, is cancelled, and times out", live, async (t) => {
  const [ada, bo] = [await player(t, "ada"), await player(t, "bo")];
  const alone = config({ matchParams: { level: "9" }, maxPlayerCount: 2 });
  const waiting = ada.matchRoom(alone, { timeoutMs: 60_000 });
  await ada.cancelMatch();
  await assert.rejects(waiting, { code: 35 });
  await assert.rejects(ada.matchRoom(alone, { timeoutMs: 100 }), { code: 34 });
  const [one, two] = await Promise.all([ada, bo].map((client) => client.matchRoom(alone, { timeoutMs: 10_000 })));
  assert.equal(one.room.id, two.room.id);
  assert.equal(one.room.players.length, 2);
});

test("frames: contiguous and every input once, through drops with requests in flight", live, async (t) => {
  const [ada, bo] = [await player(t, "ada"), await player(t, "bo")];
  const { room } = await ada.createRoom(config());
  await bo.joinRoom(room.id);
  await ada.startFrameSync();
  await event(bo, "frame");
  const inputs = [];
  const messages = [];
  for (let round = 0; round < 4; round++) {
    for (let n = 0; n < 6; n++) {
      inputs.push(bo.sendFrameInput(`${round}.${n}`));
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    messages.push(bo.sendCustomMessage(`message ${round}`));
    inputs.push(bo.sendFrameInput(new Uint8Array([round])));
    bo.dropLink();
    inputs.push(bo.sendFrameInput(`${round} while away`));
    if (round === 2) bo.dropLink(100); // twice in a row
    await bo.updatePlayerCustomStatus(round);
  }
  const seen = await Promise.all(inputs);
  await Promise.all(messages);
  assert.ok(bo.resumes >= 4);
  await ada.sendCustomMessage("end");
  await event(bo, "customMessageReceived", ({ msg }) => msg === "end");

  const ids = seen.map(({ id }) => id);
  for (const client of [ada, bo]) {
    const all = frames(client);
    assert.deepEqual(all.map(({ id }) => id), all.map((_, n) => n + 1));
    const own = all.flatMap((frame) => frame.inputs.map(({ id, playerId }) => ({ frame: frame.id, id, playerId })));
    assert.deepEqual(own.map(({ id }) => id), ids);
    assert.deepEqual(own.map(({ frame }) => frame), seen.map(({ frameId }) => frameId));
  }
  const heard = ada.seen.filter((one) => one.event === "customMessageReceived").map(({ body }) => body.msg);
  assert.deepEqual(heard, [0, 1, 2, 3].map((n) => `message ${n}`));
  const both = Math.min(frames(ada).length, frames(bo).length);
  const plain = (client) => frames(client).slice(0, both).map(({ catchingUp, ...frame }) => frame);
  assert.deepEqual(plain(ada), plain(bo));
  await ada.stopFrameSync();
  assert.equal((await event(bo, "frameSyncStopped")).reason, 0);
  await assert.rejects(bo.sendFrameInput("late"), { code: 25 });
});

test("late join and spectators start from the snapshot; hashes that differ are told", live, async (t) => {
  const [ada, bo, eve] = [await player(t, "ada"), await player(t, "bo"), await player(t, "eve")];
  const { room } = await ada.createRoom(config({ maxSpectatorCount: 2 }));
  await ada.startFrameSync();
  await event(ada, "frame", ({ id }) => id === 12);
  await ada.putSnapshot(10, Uint8Array.of(1, 2, 3));
  const joined = await bo.joinRoom(room.id);
  const watched = await eve.joinRoom(room.id, { asSpectator: true });
  assert.equal(eve.isSpectator, true);
  for (const [client, { snapshot, frameSync }] of [[bo, joined], [eve, watched]]) {
    assert.equal(frameSync.frameSyncId, 1);
    assert.deepEqual([snapshot.frameId, ...snapshot.state], [10, 1, 2, 3]);
    await event(client, "frame", ({ id }) => id > frameSync.frameId + 2);
    const ids = frames(client).map(({ id }) => id);
    assert.deepEqual(ids, ids.map((_, n) => n + 11));
  }
  const { frames: first, firstKept } = await eve.getFrames(1, 5);
  assert.deepEqual([first.map(({ id }) => id), firstKept], [[1, 2, 3, 4, 5], 1]);
  await assert.rejects(eve.sendCustomMessage("psst"), { code: 36 });
  ada.reportFrameHash(8, Uint8Array.of(1));
  bo.reportFrameHash(8, Uint8Array.of(2));
  const desync = await event(eve, "desyncDetected");
  assert.deepEqual(desync.hashes.map(({ hash }) => hash[0]).sort(), [1, 2]);
  ada.reportFrameHash(1_000_000, Uint8Array.of(1));
  assert.equal((await event(ada, "refused")).error.code, 11);
});

test("the same player elsewhere takes over, and the first stays away", live, async (t) => {
  const first = await player(t, "ada");
  const { token, url: socket } = await (await fetch(`${url}/dev/token?player=${first.playerId}`)).json();
  const { room } = await first.createRoom(config());
  const second = new HoldfastClient({ url: socket, token });
  const report = await second.connect();
  assert.equal(report.room.id, room.id);
  assert.equal(report.framesRestarted, false);
  assert.equal((await event(first, "disconnected")).code, 5);
  assert.equal(first.state, "idle");
  await second.disconnect();
  await assert.rejects(new HoldfastClient({ url: socket, token: "no.such.token" }).connect(), { code: 12 });
});
