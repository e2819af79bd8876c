// A hand-moved world around one ClientMachine: the test is the network, the server and the clock.
import assert from "node:assert/strict";
import { ClientMachine } from "../../Sources/HoldfastNode/Web/sdk/holdfast.js";

export class World {
  now = 1000;
  sent = []; // parsed messages, with their link
  events = [];
  settled = new Map();
  opened = []; // {link, url}
  closed = [];
  asks = [];

  constructor(options = {}) {
    this.machine = new ClientMachine({ endpoints: ["ws://a"], random: () => 1, ...options });
  }

  do(effects) {
    for (const effect of effects) {
      if (effect.do === "send") this.sent.push({ link: effect.link, ...JSON.parse(effect.text) });
      else if (effect.do === "open") this.opened.push(effect);
      else if (effect.do === "close") this.closed.push(effect.link);
      else if (effect.do === "token") this.asks.push(effect.ask);
      else if (effect.do === "event") this.events.push(effect);
      else {
        assert.ok(!this.settled.has(effect.id) || typeof effect.id === "string", `settled twice: ${effect.id}`);
        this.settled.set(effect.id, effect);
      }
    }
    return effects;
  }

  get link() { return this.opened.at(-1).link; }
  say(message) { return this.do(this.machine.received(this.link, JSON.stringify(message), this.now)); }
  call(name, body = {}) {
    const { id, effects } = this.machine.request(name, body, this.now);
    this.do(effects);
    return id;
  }
  input(data) {
    const { id, effects } = this.machine.input({ data }, this.now);
    this.do(effects);
    return id;
  }
  wait(ms) {
    const end = this.now + ms;
    for (let turns = 0; this.machine.wakeAt <= end; turns++) {
      assert.ok(turns < 1000, "the machine wakes without end");
      this.now = Math.max(this.now, this.machine.wakeAt);
      this.do(this.machine.tick(this.now));
    }
    this.now = end;
  }
  break() { this.do(this.machine.closed(this.link, this.now)); }
  take() { return this.sent.splice(0).filter((message) => !message.ping); }
  names() { return this.events.splice(0).map(({ name }) => name); }
  frames() {
    return this.events.splice(0).filter(({ name }) => name === "frame").map(({ body }) => body.id);
  }

  /** Token, socket and `connected`. */
  connect(connected = {}) {
    this.do(this.machine.start(this.now));
    this.do(this.machine.tokenReady(this.asks.at(-1), "token", this.now));
    this.do(this.machine.opened(this.link, this.now));
    const greeting = this.take()[0];
    this.welcome(greeting.id, connected);
    return greeting;
  }

  welcome(id, connected = {}) {
    this.say({
      id,
      connected: {
        playerId: "me", resumeToken: "r1", resumed: false, serverTime: "5000", heartbeatMs: 5000,
        resumeWindowMs: 60000, ...connected,
      },
    });
  }

  /** The link broke: waits for the next attempt and returns its `connect`. */
  greetAgain() {
    const before = this.opened.length;
    for (let turns = 0; this.opened.length === before && turns < 50; turns++) this.wait(500);
    this.do(this.machine.opened(this.link, this.now));
    return this.take().find((message) => message.connect);
  }
}

export const room = (more = {}) => ({
  id: "room", name: "n", type: "t", ownerId: "me", status: 0, maxPlayerCount: 4, frameRate: 20,
  players: [{ id: "me", status: 1 }, { id: "you", status: 1 }], ...more,
});

export const frame = (id, inputs = []) => ({ id, inputs, changes: [] });
export const mine = (id) => ({ playerId: "me", data: "", serverTime: "1", id });

/** Connected, in a room at position 10, frame sync 3 running with frames up to `frames` seen. */
export function playing(frames = 0, options = {}) {
  const world = new World(options);
  world.connect();
  const id = world.call("createRoom", { room: {} });
  world.say({ id, roomJoined: { room: room(), roomSeq: "10" } });
  world.say({ seq: "11", frameSyncStarted: { roomInfo: room(), frameSyncId: 3, seed: 7, frameRate: 20, frameId: 0 } });
  for (let n = 1; n <= frames; n++) world.say({ seq: String(11 + n), frame: frame(n) });
  world.take();
  world.events.length = 0;
  return world;
}
