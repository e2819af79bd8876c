import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  ErrorCode, HoldfastClient, HoldfastError, LockstepRandom,
} from "../../Sources/HoldfastNode/Web/sdk/holdfast.js";

class FakeSocket {
  static all = [];
  sent = [];
  constructor(url, protocols) {
    Object.assign(this, { url, protocols });
    FakeSocket.all.push(this);
    queueMicrotask(() => this.onopen());
  }
  send(text) {
    this.sent.push(JSON.parse(text));
    if (this.sent.at(-1).disconnect) this.close();
  }
  close() { queueMicrotask(() => this.onclose({ code: 1000, reason: "" })); }
  say(message) { this.onmessage({ data: JSON.stringify(message) }); }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function connected(t) {
  const client = new HoldfastClient({ url: "ws://x/v1/connect", token: async () => "jwt", WebSocket: FakeSocket });
  const connecting = client.connect();
  await turn();
  await turn();
  const socket = FakeSocket.all.at(-1);
  const reply = { playerId: "me", resumeToken: "r", serverTime: "1", heartbeatMs: 5000 };
  socket.say({ id: socket.sent[0].id, connected: reply });
  assert.equal((await connecting).playerId, "me");
  t.after(() => client.disconnect());
  return { client, socket };
}

test("LockstepRandom gives the spec's numbers", () => {
  const take = (seed, count) => {
    const random = new LockstepRandom(seed);
    return Array.from({ length: count }, () => random.next());
  };
  assert.deepEqual(take(1, 4), [135184, 33817344, 1323717730, 153799847]);
  assert.deepEqual(take(-1, 3), [126991, 2114191103, 979225633]);
  assert.deepEqual(take(0, 3), take(0x9e3779b9 | 0, 3));
  const one = new LockstepRandom(5);
  one.next();
  assert.equal(new LockstepRandom(one.state).next(), one.next());
});

test("an error has the code and its name", () => {
  const error = new HoldfastError(23, "4 of 4");
  assert.ok(error instanceof Error);
  assert.deepEqual([error.code, error.name, error.message], [ErrorCode.roomFull, "roomFull", "4 of 4"]);
});

test("the declarations name what is there, and all of it", () => {
  const text = readFileSync(new URL("../../Sources/HoldfastNode/Web/sdk/holdfast.d.ts", import.meta.url), "utf8");
  const declared = (start) => {
    const body = text.slice(text.indexOf(start) + start.length);
    const names = body.slice(0, body.indexOf("\n}")).matchAll(/^  (?:readonly )?(\w+)[(<:]/gm);
    return [...new Set(Array.from(names, ([, name]) => name))].sort();
  };
  const members = (type) => Object.getOwnPropertyNames(type.prototype).sort();
  assert.deepEqual(declared("declare class HoldfastClient {"), members(HoldfastClient));
  const own = new LockstepRandom(1);
  assert.deepEqual(declared("declare class LockstepRandom {"), [...members(LockstepRandom), ...Object.keys(own)].sort());
  const codes = text.slice(text.indexOf("ErrorCode: {"), text.indexOf("};")).matchAll(/(\w+): (\d+);/g);
  assert.deepEqual(Object.fromEntries(Array.from(codes, ([, name, code]) => [name, Number(code)])), { ...ErrorCode });
});

test("connects with the subprotocol, resolves calls, rejects refusals", async (t) => {
  const { client, socket } = await connected(t);
  assert.deepEqual(socket.protocols, ["holdfast.v1.json"]);
  assert.equal(socket.sent[0].connect.token, "jwt");
  const list = client.getRoomList({ roomType: "t" });
  const request = socket.sent.at(-1);
  assert.deepEqual(request.getRoomList, { roomType: "t" });
  socket.say({ id: request.id, roomList: { rooms: [{ id: "r", createTime: "12" }], offset: "", hasMore: false } });
  assert.equal((await list).rooms[0].createTime, 12);
  const refused = client.startFrameSync();
  socket.say({ id: socket.sent.at(-1).id, error: { code: 20, message: "no room" } });
  await assert.rejects(refused, { code: 20, name: "notInRoom" });
  await assert.rejects(client.connect(), { code: 14 });
});

test("bytes and texts of inputs arrive as they were sent", async (t) => {
  const { client, socket } = await connected(t);
  const room = { id: "r", players: [{ id: "me", status: 1 }] };
  const joined = client.joinRoom("r");
  const frameSync = { roomInfo: room, frameSyncId: 1, seed: 1 };
  socket.say({ id: socket.sent.at(-1).id, roomJoined: { room, roomSeq: "1", frameSync } });
  await joined;
  const frames = [];
  client.on("frame", (frame) => frames.push(frame));
  const seen = client.sendFrameInput(Uint8Array.of(0, 255, 7));
  const { id, sendFrameInput } = socket.sent.at(-1);
  assert.deepEqual(sendFrameInput, { dataBytes: "AP8H", frameSyncId: 1 });
  const inputs = [{ playerId: "me", dataBytes: "AP8H", id, serverTime: "3" }, { playerId: "me", data: "", id: 0 }];
  socket.say({ seq: "2", frame: { id: 1, inputs } });
  assert.deepEqual(await seen, { id, frameId: 1 });
  assert.deepEqual([...frames[0].inputs[0].dataBytes], [0, 255, 7]);
  assert.equal(frames[0].inputs[0].data, undefined);
  assert.equal(frames[0].inputs[1].data, "");
});

test("a handler that throws or calls back does not disturb the order", async (t) => {
  const { client, socket } = await connected(t);
  const thrown = [];
  const original = queueMicrotask;
  t.mock.method(globalThis, "queueMicrotask", (work) => original(() => {
    try {
      work();
    } catch (error) {
      thrown.push(error.message);
    }
  }));
  const first = client.sendCustomMessage("first");
  client.on("reconnected", () => { throw new Error("mine"); });
  client.on("reconnected", () => { client.sendCustomMessage("second").catch(() => {}); });
  client.dropLink();
  while (FakeSocket.all.at(-1) === socket) await new Promise((resolve) => setTimeout(resolve, 10));
  await turn();
  const next = FakeSocket.all.at(-1);
  assert.equal(next.sent[0].connect.resume.resumeToken, "r");
  next.say({ id: next.sent[0].id, connected: { playerId: "me", resumeToken: "r", resumed: true, heartbeatMs: 5000 } });
  const messages = next.sent.filter((message) => message.sendCustomMessage);
  assert.deepEqual(messages.map((message) => message.sendCustomMessage.msg), ["first", "second"]);
  assert.equal(client.resumes, 1);
  next.say({ id: messages[0].id, ok: {} });
  await first;
  assert.deepEqual(thrown, ["mine"]);
});
