import assert from "node:assert/strict";
import { test } from "node:test";
import { World, frame, mine, playing, room } from "./harness.mjs";

const sync = (more = {}) => ({ roomInfo: room(), frameSyncId: 3, seed: 7, frameRate: 20, frameId: 0, ...more });

test("connect presents the token, and calls made before wait for it", () => {
  const world = new World();
  world.do(world.machine.start(world.now));
  const early = world.call("getRoomList");
  assert.deepEqual(world.take(), []);
  world.do(world.machine.tokenReady(world.asks[0], "jwt", world.now));
  world.do(world.machine.opened(world.link, world.now));
  const [greeting, ...rest] = world.take();
  assert.equal(greeting.connect.token, "jwt");
  assert.equal(greeting.connect.resume, undefined);
  assert.deepEqual(rest, []);
  world.welcome(greeting.id);
  assert.equal(world.settled.get("connect").value.playerId, "me");
  assert.deepEqual(world.take().map(({ id }) => id), [early]);
});

test("a bad token ends the first connect with 12, without another try", () => {
  const world = new World();
  world.do(world.machine.start(world.now));
  world.do(world.machine.tokenReady(world.asks[0], "jwt", world.now));
  world.do(world.machine.opened(world.link, world.now));
  world.say({ id: world.take()[0].id, error: { code: 12, message: "expired" } });
  assert.equal(world.settled.get("connect").error.code, 12);
  world.wait(60_000);
  assert.equal(world.opened.length, 1);
});

test("the first connect gives up after its time when nobody answers", () => {
  const world = new World({ connectTimeoutMs: 3000 });
  world.do(world.machine.start(world.now));
  for (let n = 0; n < 20 && world.machine.phase !== "idle"; n++) {
    if (world.machine.phase === "token") world.do(world.machine.tokenReady(world.asks.at(-1), "jwt", world.now));
    if (world.machine.phase === "opening") world.break();
    world.wait(500);
  }
  assert.equal(world.settled.get("connect").error.code, 6);
});

test("a resume presents room, event and frame positions", () => {
  const world = playing(5);
  world.say({ seq: "17", customMessageReceived: { playerId: "you", msg: "hi" } });
  world.break();
  assert.deepEqual(world.names(), ["customMessageReceived", "reconnecting"]);
  assert.deepEqual(world.greetAgain().connect.resume, {
    resumeToken: "r1", roomSeq: "17", roomId: "room", frameSyncId: 3, frameId: 5,
  });
});

test("outside of a room a resume presents none", () => {
  const world = new World();
  world.connect();
  world.break();
  assert.deepEqual(world.greetAgain().connect.resume, {
    resumeToken: "r1", roomSeq: "0", roomId: "", frameSyncId: 0, frameId: 0,
  });
});

test("the position counts what was seen, not what `connected` counts in the room", () => {
  const world = playing();
  world.break();
  let greeting = world.greetAgain();
  world.welcome(greeting.id, { resumed: true, room: room(), roomSeq: "20", frameSync: sync() });
  world.say({ seq: "12", customMessageReceived: { playerId: "you", msg: "1" } });
  world.break();
  greeting = world.greetAgain();
  assert.equal(greeting.connect.resume.roomSeq, "12");
});

test("after `roomRestarted` the position is that of `connected`, and repeats are passed over", () => {
  const world = playing();
  world.break();
  const greeting = world.greetAgain();
  world.welcome(greeting.id, { resumed: true, room: room(), roomSeq: "40", roomRestarted: true, frameSync: sync() });
  world.events.length = 0;
  world.say({ seq: "40", customMessageReceived: { playerId: "you", msg: "old" } });
  world.say({ seq: "41", customMessageReceived: { playerId: "you", msg: "new" } });
  assert.deepEqual(world.events.map(({ body }) => body.msg), ["new"]);
  world.break();
  assert.equal(world.greetAgain().connect.resume.roomSeq, "41");
});

test("the end of a frame sync that is not kept is told all the same", () => {
  const world = playing();
  world.break();
  const greeting = world.greetAgain();
  world.events.length = 0;
  world.welcome(greeting.id, { resumed: true, room: room(), roomSeq: "40", roomRestarted: true });
  const [, stopped] = world.events;
  assert.deepEqual(world.names(), ["reconnected", "frameSyncStopped"]);
  assert.deepEqual(stopped.body, { roomId: "room", frameSyncId: 3, reason: -1 });
});

test("events that `connected` has counted are told and not counted again", () => {
  const world = playing();
  world.break();
  const greeting = world.greetAgain();
  const alone = room({ players: [{ id: "me", status: 1 }] });
  world.welcome(greeting.id, { resumed: true, room: alone, roomSeq: "13", frameSync: sync() });
  world.events.length = 0;
  world.say({ seq: "12", playerEntered: { roomId: "room", player: { id: "she" }, roomOwnerId: "me" } });
  assert.equal(world.machine.room.players.length, 1);
  world.say({ seq: "13", playerLeft: { roomId: "room", playerId: "she", roomOwnerId: "me" } });
  world.say({ seq: "14", playerEntered: { roomId: "room", player: { id: "he" }, roomOwnerId: "me" } });
  assert.deepEqual(world.names(), ["playerEntered", "playerLeft", "playerEntered"]);
  assert.deepEqual(world.machine.room.players.map(({ id }) => id), ["me", "he"]);
});

test("requests in flight are sent again with their ids, in order, and settle once", () => {
  const world = playing();
  const first = world.call("sendCustomMessage", { msg: "a", type: 0 });
  const second = world.call("updatePlayerCustomStatus", { status: 1 });
  const original = world.take();
  world.break();
  const during = world.call("sendCustomMessage", { msg: "b", type: 0 });
  const greeting = world.greetAgain();
  world.welcome(greeting.id, { resumed: true, room: room(), roomSeq: "11", frameSync: sync() });
  const again = world.take();
  assert.deepEqual(again.map(({ id }) => id), [first, second, during]);
  assert.deepEqual(again[0].sendCustomMessage, original[0].sendCustomMessage);
  world.say({ id: first, ok: {} });
  world.say({ id: first, ok: {} });
  assert.ok(world.settled.has(first));
  world.break();
  world.welcome(world.greetAgain().id, { resumed: true, room: room(), roomSeq: "11", frameSync: sync() });
  assert.deepEqual(world.take().map(({ id }) => id), [second, during]);
});

test("what an old link still says is not heard", () => {
  const world = playing();
  const old = world.link;
  world.break();
  world.greetAgain();
  assert.deepEqual(world.machine.received(old, JSON.stringify({ seq: "99", frame: frame(1) }), world.now), []);
  assert.deepEqual(world.machine.closed(old, world.now), []);
});

test("the seam: batches, repeats and live frames are single frames in order", () => {
  const world = playing(3);
  world.break();
  const greeting = world.greetAgain();
  world.welcome(greeting.id, { resumed: true, room: room(), roomSeq: "18", frameSync: sync({ frameId: 7 }) });
  world.events.length = 0;
  world.say({ seq: "17", frames: { frames: [2, 3, 4, 5, 6].map((id) => frame(id)), firstKept: 1, frameSyncId: 3 } });
  world.say({ seq: "18", frame: frame(6) });
  world.say({ seq: "18", frame: frame(7) });
  world.say({ seq: "19", frame: frame(8) });
  const told = world.events.map(({ body }) => [body.id, body.catchingUp]);
  assert.deepEqual(told, [[4, true], [5, true], [6, true], [7, true], [8, false]]);
});

test("a batch of another frame sync is passed over", () => {
  const world = playing(1);
  world.say({ frames: { frames: [frame(2)], firstKept: 1, frameSyncId: 2 } });
  assert.deepEqual(world.frames(), []);
});

test("frames that are no longer kept are told as lost, with the snapshot that covers them", () => {
  const world = new World();
  world.connect();
  const id = world.call("joinRoom", { roomId: "room" });
  world.say({ id, roomJoined: { room: room(), roomSeq: "10", frameSync: sync({ frameId: 90 }) } });
  world.say({ frames: { frames: [frame(50), frame(51)], firstKept: 50, frameSyncId: 3 } });
  const lost = world.events.find(({ name }) => name === "framesLost").body;
  assert.deepEqual(lost, { first: 1, last: 49, snapshot: null });
  assert.deepEqual(world.frames(), [50, 51]);
});

test("a hole that nobody declared is not shown to the user: the link is dropped and resumed at the hole", () => {
  const world = playing(3);
  world.say({ seq: "16", frame: frame(5) });
  assert.deepEqual(world.names(), ["reconnecting"]);
  assert.equal(world.greetAgain().connect.resume.frameId, 3);
});

test("a late join starts after the snapshot", () => {
  const world = new World();
  world.connect();
  const id = world.call("joinRoom", { roomId: "room" });
  const snapshot = { frameId: 40, state: "AQI=", playerId: "you" };
  world.say({ id, roomJoined: { room: room(), roomSeq: "80", frameSync: sync({ frameId: 42 }), snapshot } });
  assert.deepEqual([...world.settled.get(id).value.snapshot.state], [1, 2]);
  world.say({ frames: { frames: [frame(41), frame(42)], firstKept: 1, frameSyncId: 3 } });
  world.say({ seq: "81", frame: frame(43) });
  assert.deepEqual(world.frames(), [41, 42, 43]);
});

test("a fresh run in the same frame sync goes on, whether the server starts over or not", () => {
  const world = playing(4);
  world.break();
  let greeting = world.greetAgain();
  world.say({ id: greeting.id, error: { code: 39 } });
  world.do(world.machine.tokenReady(world.asks.at(-1), "new", world.now));
  greeting = world.take()[0];
  world.events.length = 0;
  world.welcome(greeting.id, {
    resumeToken: "r2", room: room(), roomSeq: "30", roomRestarted: true, frameSync: sync({ frameId: 6 }),
  });
  assert.equal(world.events[0].body.framesRestarted, false);
  world.say({ frames: { frames: [1, 2, 3, 4, 5, 6].map((id) => frame(id)), firstKept: 1, frameSyncId: 3 } });
  assert.deepEqual(world.frames(), [5, 6]);
});

test("a fresh run with a newer snapshot starts from it", () => {
  const world = playing(4);
  world.break();
  const greeting = world.greetAgain();
  world.events.length = 0;
  world.welcome(greeting.id, {
    room: room(), roomSeq: "30", roomRestarted: true, frameSync: sync({ frameId: 60 }),
    snapshot: { frameId: 50, state: "", playerId: "you" },
  });
  assert.equal(world.events[0].body.framesRestarted, true);
  assert.equal(world.events[0].body.snapshot.frameId, 50);
  world.say({ frames: { frames: [frame(51)], firstKept: 1, frameSyncId: 3 } });
  assert.deepEqual(world.frames(), [51]);
});

test("a frame sync that stopped and started anew during the drop is followed by its events", () => {
  const world = playing(2);
  world.break();
  const greeting = world.greetAgain();
  world.welcome(greeting.id, {
    resumed: true, room: room({ status: 1 }), roomSeq: "17", frameSync: sync({ frameSyncId: 4, frameId: 1 }),
  });
  world.events.length = 0;
  world.say({ seq: "14", frames: { frames: [frame(3)], firstKept: 1, frameSyncId: 3 } });
  world.say({ seq: "15", frameSyncStopped: { roomId: "room", frameSyncId: 3, reason: 0 } });
  world.say({ seq: "16", frameSyncStarted: sync({ frameSyncId: 4 }) });
  world.say({ seq: "17", frame: frame(1) });
  assert.deepEqual(world.names(), ["frame", "frameSyncStopped", "frameSyncStarted", "frame"]);
  assert.equal(world.machine.position.frameSyncId, 4);
});

test("inputs not seen in a frame are sent again once, in order; seen ones are not", () => {
  const world = playing(1);
  const ids = ["a", "b", "c"].map((data) => world.input(data));
  world.say({ seq: "13", frame: frame(2, [mine(ids[0])]) });
  assert.deepEqual(world.settled.get(ids[0]).value, { id: ids[0], frameId: 2 });
  world.take();
  world.break();
  const greeting = world.greetAgain();
  world.welcome(greeting.id, { resumed: true, room: room(), roomSeq: "13", frameSync: sync({ frameId: 3 }) });
  const again = world.take();
  assert.deepEqual(again.map(({ id, sendFrameInput }) => [id, sendFrameInput.data]), [[ids[1], "b"], [ids[2], "c"]]);
  assert.equal(again[0].sendFrameInput.frameSyncId, 3);
  world.say({ seq: "14", frames: { frames: [frame(3, [mine(ids[1])])], firstKept: 1, frameSyncId: 3 } });
  world.say({ seq: "15", frame: frame(4, [mine(ids[2])]) });
  assert.deepEqual(world.take(), []);
  assert.equal(world.settled.get(ids[2]).value.frameId, 4);
});

test("a long backlog of inputs keeps to the limit of a frame and its order", () => {
  const world = playing(1);
  world.break();
  const ids = Array.from({ length: 10 }, (_, n) => world.input(String(n)));
  const greeting = world.greetAgain();
  world.welcome(greeting.id, { resumed: true, room: room(), roomSeq: "12", frameSync: sync({ frameId: 1 }) });
  const late = world.input("late");
  const order = [];
  const perFrame = [];
  for (let n = 2; n < 8; n++) {
    const sent = world.take();
    perFrame.push(sent.length);
    order.push(...sent.map(({ id }) => id));
    world.say({ seq: String(11 + n), frame: frame(n) });
  }
  assert.ok(Math.max(...perFrame) <= 5, String(perFrame));
  assert.deepEqual(order, [...ids, late]);
});

test("an input that was passed over is given up when a later one is seen", () => {
  const world = playing(1);
  const [lost, seen] = [world.input("a"), world.input("b")];
  world.say({ seq: "13", frame: frame(2, [mine(seen)]) });
  assert.equal(world.settled.get(lost).error.code, 6);
  assert.equal(world.settled.get(seen).value.frameId, 2);
});

test("the end of a frame sync settles its inputs with 25", () => {
  const world = playing(1);
  const id = world.input("a");
  world.say({ seq: "13", frameSyncStopped: { roomId: "room", frameSyncId: 3, reason: 0 } });
  assert.equal(world.settled.get(id).error.code, 25);
});

test("1 with retryAfterMs is sent again after that time with the same id", () => {
  const world = playing();
  const id = world.call("startFrameSync");
  world.take();
  world.say({ id, error: { code: 1, message: "moving", retryAfterMs: 300 } });
  world.wait(299);
  assert.deepEqual(world.take(), []);
  world.wait(1);
  assert.deepEqual(world.take().map((message) => message.id), [id]);
  world.say({ id, ok: {} });
  assert.equal(world.settled.get(id).error, undefined);
});

test("1 without retryAfterMs, and 3, are the outcome", () => {
  const world = playing();
  const [a, b] = [world.call("startFrameSync"), world.call("getRoomList")];
  world.say({ id: a, error: { code: 1, message: "" } });
  world.say({ id: b, error: { code: 3, message: "", retryAfterMs: 70 } });
  assert.equal(world.settled.get(a).error.name, "serverError");
  assert.equal(world.settled.get(b).error.retryAfterMs, 70);
});

test("5 never reconnects and settles all that was open", () => {
  const world = playing(1);
  const [call, input] = [world.call("getRoomList"), world.input("a")];
  world.say({ disconnected: { code: 5, message: "another tab", mayReconnect: false } });
  world.break();
  world.wait(300_000);
  assert.equal(world.opened.length, 1);
  assert.equal(world.settled.get(call).error.code, 5);
  assert.equal(world.settled.get(input).error.code, 5);
  assert.deepEqual(world.names(), ["disconnected"]);
});

test("37 resumes", () => {
  const world = playing(2);
  world.say({ disconnected: { code: 37, message: "slow", mayReconnect: true } });
  assert.equal(world.greetAgain().connect.resume.frameId, 2);
});

test("38 goes to another endpoint at once, and takes its time when all say so", () => {
  const world = playing(0, { endpoints: ["ws://a", "ws://b"] });
  world.say({ disconnected: { code: 38, message: "", mayReconnect: true } });
  world.wait(0);
  assert.deepEqual(world.opened.map(({ url }) => url), ["ws://a", "ws://b"]);
  world.do(world.machine.opened(world.link, world.now));
  world.say({ id: world.take()[0].id, error: { code: 38 } });
  world.wait(0);
  assert.equal(world.opened.length, 2);
  world.wait(1000);
  assert.equal(world.opened.length, 3);
});

test("a call refused with 38 is made again where the client comes back", () => {
  const world = playing();
  const id = world.call("sendCustomMessage", { msg: "a", type: 0 });
  world.take();
  world.say({ id, error: { code: 38, message: "draining" } });
  assert.equal(world.settled.has(id), false);
  world.welcome(world.greetAgain().id, { resumed: true, room: room(), roomSeq: "11", frameSync: sync() });
  assert.deepEqual(world.take().map((message) => message.id), [id]);
});

test("39 connects with a token on the same link; what the old run left open is told as unknown, reads are asked again",
  () => {
    const world = playing(1);
    const [message, list] = [world.call("sendCustomMessage", { msg: "a", type: 0 }), world.call("getRoomList")];
    world.take();
    world.break();
    const fresh = world.call("updatePlayerCustomStatus", { status: 1 });
    const link = world.opened.length;
    let greeting = world.greetAgain();
    world.say({ id: greeting.id, error: { code: 39, message: "over" } });
    world.do(world.machine.tokenReady(world.asks.at(-1), "new", world.now));
    greeting = world.take()[0];
    assert.equal(world.opened.length, link + 1);
    assert.equal(greeting.connect.token, "new");
    assert.equal(greeting.connect.resume, undefined);
    world.welcome(greeting.id, { resumeToken: "r2" });
    assert.equal(world.settled.get(message).error.code, 6);
    assert.deepEqual(world.take().map(({ id }) => id), [list, fresh]);
    assert.equal(world.machine.room, null);
    world.break();
    assert.equal(world.greetAgain().connect.resume.resumeToken, "r2");
  });

test("the backoff grows with jitter to its bound, over all endpoints, and starts anew after a stable link", () => {
  const waits = (random) => {
    const world = playing(0, { endpoints: ["ws://a", "ws://b"], random: () => random });
    const delays = [];
    for (let n = 0; n < 8; n++) {
      world.events.length = 0;
      world.break();
      delays.push(world.events[0].body.delayMs);
      world.wait(delays.at(-1));
    }
    assert.deepEqual(new Set(world.opened.slice(1).map(({ url }) => url)), new Set(["ws://a", "ws://b"]));
    world.do(world.machine.opened(world.link, world.now));
    world.welcome(world.take()[0].id, { resumed: true, room: room(), roomSeq: "11", frameSync: sync() });
    for (let n = 0; n < 6; n++) {
      world.wait(1000);
      world.say({ pong: {} });
    }
    world.events.length = 0;
    world.break();
    delays.push(world.events[0].body.delayMs);
    return delays;
  };
  assert.deepEqual(waits(1), [200, 400, 800, 1600, 3200, 6400, 8000, 8000, 200]);
  assert.deepEqual(waits(0), [100, 200, 400, 800, 1600, 3200, 4000, 4000, 100]);
});

test("silence for 2 × heartbeatMs drops the link, and pings measure the round trip", () => {
  const world = playing();
  world.wait(0);
  const ping = world.sent.find((message) => message.ping);
  world.now += 40;
  world.say({ id: ping.id, pong: { clientTime: ping.ping.clientTime, serverTime: "9000" } });
  assert.equal(world.machine.roundTripMs, 40);
  world.wait(9_999);
  assert.equal(world.machine.phase, "live");
  world.wait(1);
  assert.equal(world.machine.phase, "backoff");
});

test("a page that slept asks before it drops the link", () => {
  const world = playing();
  world.wait(0);
  const { id } = world.sent.splice(0).find((message) => message.ping);
  world.say({ id, pong: {} });
  world.now += 60_000; // no timer ran
  world.do(world.machine.tick(world.now));
  assert.equal(world.machine.phase, "live");
  const ping = world.sent.find((message) => message.ping);
  world.say({ id: ping.id, pong: {} });
  assert.equal(world.machine.phase, "live");
});

test("a seat that ended during the drop: no room, then the event that ended it", () => {
  const world = playing(1);
  const input = world.input("a");
  world.break();
  const greeting = world.greetAgain();
  world.events.length = 0;
  world.welcome(greeting.id, { resumed: true });
  world.say({ playerKicked: { roomId: "room", playerId: "me", roomOwnerId: "you" } });
  assert.deepEqual(world.names(), ["reconnected", "playerKicked"]);
  assert.equal(world.settled.get(input).error.code, 20);
  assert.equal(world.machine.room, null);
});

test("a join that was done before the drop: `connected` tells of the room, the answer changes nothing in the stream",
  () => {
    const world = new World();
    world.connect();
    const id = world.call("joinRoom", { roomId: "room" });
    world.break();
    const greeting = world.greetAgain();
    world.welcome(greeting.id, {
      resumed: true, room: room(), roomSeq: "20", roomRestarted: true, frameSync: sync({ frameId: 2 }),
    });
    assert.deepEqual(world.take().map((message) => message.id), [id]);
    world.say({ frames: { frames: [frame(1), frame(2)], firstKept: 1, frameSyncId: 3 } });
    world.say({ id, roomJoined: { room: room(), roomSeq: "23", frameSync: sync({ frameId: 2 }) } });
    assert.equal(world.settled.get(id).value.alreadyIn, true);
    world.say({ seq: "24", frame: frame(3) });
    assert.deepEqual(world.frames(), [1, 2, 3]);
    world.break();
    assert.equal(world.greetAgain().connect.resume.roomSeq, "24");
  });

test("disconnect says so and ends; on a dead link it does not wait for ever", () => {
  const world = playing();
  const open = world.call("getRoomList");
  world.take();
  world.do(world.machine.stop(world.now));
  assert.ok(world.take()[0].disconnect);
  world.say({ disconnected: { code: 0, message: "", mayReconnect: false } });
  assert.ok(world.settled.has("disconnect"));
  assert.equal(world.settled.get(open).error.code, 6);
  assert.equal(world.machine.phase, "idle");

  const dead = playing();
  dead.do(dead.machine.stop(dead.now));
  dead.wait(2000);
  assert.ok(dead.settled.has("disconnect"));
});

test("leaving, being dismissed, and a lost room end the room", () => {
  const world = playing();
  const id = world.call("leaveRoom");
  world.say({ id, ok: {} });
  assert.equal(world.machine.position.roomId, "");
  for (const end of [{ roomDismissed: { roomId: "room", reason: 0 } }, { serviceError: { code: 1, message: "" } }]) {
    const other = playing();
    other.say(end);
    assert.equal(other.machine.room, null);
  }
});

test("ids grow over everything that is sent", () => {
  const world = playing(1);
  world.call("getRoomList");
  world.input("a");
  world.do(world.machine.notify("reportFrameHash", { frameId: 1, hash: "AA==" }));
  world.wait(3000);
  world.call("getRoomList");
  const ids = world.sent.map(({ id }) => id);
  assert.ok(ids.length >= 5);
  assert.deepEqual(ids, [...ids].sort((a, b) => a - b));
  assert.equal(new Set(ids).size, ids.length);
});

test("a refused hash report is told, without a promise", () => {
  const world = playing(1);
  world.do(world.machine.notify("reportFrameHash", { frameId: 9, hash: "AA==" }));
  world.say({ id: world.take()[0].id, error: { code: 11, message: "not sealed" } });
  assert.equal(world.events[0].name, "refused");
  assert.equal(world.events[0].body.call, "reportFrameHash");
});

test("tables are bounded, and a message that would cost the link is refused here", () => {
  const world = playing(1, { openInputs: 4 });
  for (let n = 0; n < 4; n++) world.input("x");
  const refused = world.machine.input({ data: "x" }, world.now);
  assert.equal(refused.effects[0].error.code, 3);
  const large = playing().machine.request("sendCustomMessage", { msg: "x".repeat(96 * 1024) }, 0);
  assert.equal(large.effects[0].error.code, 11);
});

test("text that cannot be read costs the link, not the client", () => {
  const world = playing(1);
  world.do(world.machine.received(world.link, "{", world.now));
  assert.equal(world.machine.phase, "backoff");
  assert.equal(world.greetAgain().connect.resume.frameId, 1);
});
