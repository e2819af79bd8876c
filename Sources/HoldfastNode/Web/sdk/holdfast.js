// Holdfast for JavaScript: rooms, matching, messages and lockstep frames over one WebSocket.
//
// One ES module without dependencies, for browsers and (with a WebSocket class handed in) Node 20 and newer.
// `ClientMachine` decides everything and knows no socket, no timer and no randomness of its own: each input returns a
// list of effects. `HoldfastClient` is the thin shell that carries the effects out.

/** Names and numbers of the error codes. */
export const ErrorCode = Object.freeze({
  success: 0, serverError: 1, rateLimited: 3, replaced: 5, networkError: 6, invalidRequest: 11,
  invalidAuthorization: 12, notConnected: 13, alreadyConnected: 14, requestInProgress: 15, notImplemented: 16,
  roomLimit: 19, notInRoom: 20, alreadyInRoom: 21, notOwner: 22, roomFull: 23, roomNotFound: 24,
  frameSyncNotRunning: 25, frameSyncRunning: 26, frameInputTooLarge: 28, tooManyFrameInputs: 29, playerNotFound: 30,
  wrongPassword: 31, bannedFromRoom: 32, framesNotKept: 33, matchTimeout: 34, matchCancelled: 35,
  notForSpectators: 36, slowConsumer: 37, draining: 38, resumeExpired: 39,
  invalidBattleRequest: 100002, battleLimit: 100404, battleNotFound: 100411, noInviteeReachable: 100412,
  notInBattle: 100414, inOtherBattle: 100415, battleRequestPending: 100416, alreadyInThisBattle: 100419,
  battleNotStarted: 100420, battleEnded: 100421,
  sessionAuthorizationFailure: 1004, invalidSession: 1005, sessionNotConnected: 1010, sessionIllegalState: 1015,
  sessionConnectionDropped: 1022, sessionConnectionLimit: 1027, signalDataTooLong: 1413, invalidSignalType: 1461,
  unableToForceDisconnect: 1520, unableToSendSignal: 1550,
});

const codeNames = new Map(Object.entries(ErrorCode).map(([name, code]) => [code, name]));

/** A refused or failed call. `code` is a number of `ErrorCode`, `name` is its name there. */
export class HoldfastError extends Error {
  constructor(code, message = "", retryAfterMs = 0) {
    super(message || codeNames.get(code) || `code ${code}`);
    this.code = code;
    this.name = codeNames.get(code) ?? "unknownError";
    this.retryAfterMs = retryAfterMs;
  }
}

/** The random numbers that every SDK draws from a frame sync's seed: xorshift32, the same sequence everywhere. */
export class LockstepRandom {
  /** @param {number} seed `seed` of the frame sync, or a `state` taken before. */
  constructor(seed) {
    this.state = seed >>> 0 || 0x9e3779b9;
  }

  /** The next number, 0 … 2^31 − 1. */
  next() {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state = x >>> 0;
    return this.state >>> 1;
  }

  /** The next number below `bound` (1 … 2^31 − 1). */
  below(bound) {
    return this.next() % bound;
  }
}

// ------------------------------------------------------------------------------------------------ what is on the wire

// Fields by message. A string names another message; one in a list is repeated.
const INT = Symbol("int"), TEXT = Symbol("text"), FLAG = Symbol("flag"), BYTES = Symbol("bytes"), MAP = Symbol("map");
const schema = {
  Ok: {},
  Error: { code: INT, message: TEXT, retryAfterMs: INT },
  Connected: {
    playerId: TEXT, resumeToken: TEXT, resumed: FLAG, serverTime: INT, heartbeatMs: INT, resumeWindowMs: INT,
    room: "RoomInfo", node: TEXT, roomSeq: INT, roomRestarted: FLAG, frameSync: "FrameSyncInfo", snapshot: "Snapshot",
  },
  Pong: { clientTime: INT, serverTime: INT },
  Disconnected: { code: INT, message: TEXT, mayReconnect: FLAG },
  ServiceError: { code: INT, message: TEXT },
  PlayerInfo: { id: TEXT, status: INT, customStatus: INT, customProperties: TEXT },
  RoomInfo: {
    id: TEXT, name: TEXT, type: TEXT, ownerId: TEXT, status: INT, customProperties: TEXT, maxPlayerCount: INT,
    players: ["PlayerInfo"], createTime: INT, frameRate: INT, spectatorCount: INT, maxSpectatorCount: INT,
    allowLateJoin: FLAG, hasPassword: FLAG, hidden: FLAG, matchParams: MAP, lockedDuringFrameSync: FLAG,
  },
  RoomSummary: {
    id: TEXT, name: TEXT, type: TEXT, status: INT, customProperties: TEXT, maxPlayerCount: INT, playerCount: INT,
    createTime: INT, hasPassword: FLAG, spectatorCount: INT,
  },
  RoomJoined: { room: "RoomInfo", roomSeq: INT, frameSync: "FrameSyncInfo", snapshot: "Snapshot" },
  RoomList: { rooms: ["RoomSummary"], offset: TEXT, hasMore: FLAG },
  PlayerEntered: { roomId: TEXT, player: "PlayerInfo", roomOwnerId: TEXT },
  PlayerChange: { roomId: TEXT, roomOwnerId: TEXT, playerId: TEXT },
  RoomOwnerChanged: { roomId: TEXT, roomOwnerId: TEXT },
  RoomPropertiesChanged: { id: TEXT, name: TEXT, customProperties: TEXT },
  PlayerCustomStatusChanged: { playerId: TEXT, status: INT },
  PlayerCustomPropertiesChanged: { playerId: TEXT, properties: TEXT },
  RoomDismissed: { roomId: TEXT, reason: INT },
  CustomMessageReceived: { playerId: TEXT, msg: TEXT },
  FrameSyncInfo: {
    roomInfo: "RoomInfo", frameSyncId: INT, seed: INT, serverTime: INT, frameRate: INT, frameId: INT,
  },
  FrameInput: { playerId: TEXT, serverTime: INT, id: INT },
  SeatChange: { playerId: TEXT, kind: INT },
  Frame: { id: INT, inputs: ["FrameInput"], changes: ["SeatChange"] },
  FrameSyncStopped: { roomId: TEXT, frameSyncId: INT, reason: INT },
  Frames: { frames: ["Frame"], firstKept: INT, partial: FLAG, frameSyncId: INT },
  FrameHash: { playerId: TEXT, hash: BYTES },
  DesyncDetected: { frameId: INT, hashes: ["FrameHash"] },
  Snapshot: { frameId: INT, state: BYTES, playerId: TEXT },
};

const bodies = {
  error: "Error", ok: "Ok", connected: "Connected", pong: "Pong", disconnected: "Disconnected",
  serviceError: "ServiceError", roomJoined: "RoomJoined", roomList: "RoomList", playerEntered: "PlayerEntered",
  playerLeft: "PlayerChange", playerOffline: "PlayerChange", playerOnline: "PlayerChange", playerKicked: "PlayerChange",
  roomOwnerChanged: "RoomOwnerChanged", roomPropertiesChanged: "RoomPropertiesChanged",
  playerCustomStatusChanged: "PlayerCustomStatusChanged",
  playerCustomPropertiesChanged: "PlayerCustomPropertiesChanged", roomDismissed: "RoomDismissed",
  customMessageReceived: "CustomMessageReceived", frameSyncStarted: "FrameSyncInfo", frame: "Frame",
  frameSyncStopped: "FrameSyncStopped", frames: "Frames", desyncDetected: "DesyncDetected",
};

// Their `seq` counts in a session, not in the room.
const sessionBodies = new Set([
  "sessionJoined", "connectionCreated", "connectionDestroyed", "signalReceived", "connectionReconnecting",
  "connectionReconnected", "sessionConnections",
]);

function toBytes(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function toBase64(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 4096) text += String.fromCharCode(...bytes.subarray(i, i + 4096));
  return btoa(text);
}

function decodeField(kind, value) {
  const absent = value === undefined || value === null;
  switch (kind) {
    case INT: {
      const number = absent ? 0 : Number(value);
      if (!Number.isFinite(number)) throw new TypeError("not a number");
      return number;
    }
    case TEXT: return absent ? "" : String(value);
    case FLAG: return value === true;
    case BYTES: return absent ? new Uint8Array(0) : toBytes(value);
    case MAP: return absent ? {} : { ...value };
    default:
      if (Array.isArray(kind)) return absent ? [] : value.map((item) => decode(kind[0], item));
      return absent ? null : decode(kind, value);
  }
}

function decode(type, json) {
  const fields = schema[type];
  const message = {};
  for (const name in fields) message[name] = decodeField(fields[name], json[name]);
  if (type === "FrameInput") {
    if (json.dataBytes !== undefined && json.dataBytes !== null) message.dataBytes = toBytes(json.dataBytes);
    else message.data = decodeField(TEXT, json.data);
  }
  return message;
}

/** Reads one server message: `{id, seq, name, body}`. Unknown bodies stay as they came. Throws on bad text. */
function decodeMessage(text) {
  const json = JSON.parse(text);
  const keys = Object.keys(json).filter((key) => key !== "id" && key !== "seq" && json[key] !== null);
  // A newer server may put fields beside the body that this version does not know.
  const name = keys.find((key) => Object.hasOwn(bodies, key)) ?? keys[0];
  const type = Object.hasOwn(bodies, name ?? "") ? bodies[name] : null;
  return {
    id: decodeField(INT, json.id), seq: decodeField(INT, json.seq), name: name ?? "",
    body: type ? decode(type, json[name]) : json[name ?? ""],
  };
}

// --------------------------------------------------------------------------------------------------- the state machine

/** Bounds and paces of the machine; each can be given in the options. */
const defaults = {
  backoffFirstMs: 200,
  backoffLimitMs: 8000,
  openTimeoutMs: 8000, // for the socket to open, and then for `connected` to come
  connectTimeoutMs: 15000, // for the first `connected`, over all attempts
  giveUpAfterMs: 120000, // after a drop, over all attempts
  goodbyeTimeoutMs: 2000,
  stableAfterMs: 5000, // a link that stood so long starts the backoff anew
  openRequests: 256, // unanswered requests; one more is refused (3)
  openInputs: 256, // inputs not yet seen in a frame; one more is refused (3)
  inputsAtOnce: 4, // sent again per frame after a resume, so that the limit of 5 a frame holds
  messageBytes: 96 * 1024,
};

// Answered the same whenever they are asked, so they may also be asked again in a new run.
const repeatable = new Set(["getRoomList", "getFrames", "cancelMatch"]);

/**
 * Everything that a client of one player decides: connecting, resuming, what is sent again, the room's mirror, the
 * order of frames. Inputs return effects:
 *   {do: "token", ask}            get a token, answer with tokenReady or tokenFailed
 *   {do: "open", link, url}       open a socket; report opened, received and closed with this link number
 *   {do: "send", link, text}      {do: "close", link}
 *   {do: "settle", id, value} or {do: "settle", id, error}      id "connect", "disconnect" or a request's
 *   {do: "event", name, body}
 * Phases: idle → token → opening → greeting → live; greeting → regreeting (a new token is on its way) → greeting;
 * any → backoff → token or opening; live → leaving → idle; any → idle.
 */
export class ClientMachine {
  constructor(options) {
    this.options = { client: "js/1.0", firstId: 1, random: () => 0.5, ...defaults, ...options };
    if (!this.options.endpoints?.length) throw new TypeError("no endpoint given");
    this.nextId = this.options.firstId;
    this.link = 0;
    this.ask = 0;
    this.run = 0;
    this.endpoint = 0;
    this.#reset();
  }

  #reset() {
    this.phase = "idle";
    this.token = "";
    this.resumeToken = "";
    this.playerId = "";
    this.everConnected = false;
    this.attempts = 0;
    this.drains = 0;
    this.deadline = Infinity; // of the phase
    this.giveUpAt = Infinity;
    this.downSince = 0;
    this.connectId = 0;
    this.connectRetryAt = Infinity;
    this.requests = new Map(); // id → request, in the order of ids
    this.inputs = new Map(); // id → input not yet seen in a frame, in the order of ids
    this.loose = new Map(); // id → name of what gets no reply unless it is refused
    this.roundTripMs = 0;
    this.clockOffsetMs = 0;
    this.#leaveRoom();
  }

  #leaveRoom() {
    this.room = null;
    this.mirrorSeq = 0; // the events up to here are counted in `room`
    this.seenSeq = 0; // the events up to here were delivered
    this.joinedSeq = 0; // `roomSeq` of the room's last roomJoined
    this.frameSync = null;
    this.nextFrame = 1;
    this.sealed = 0; // newest frame known to exist when the stream (re)started: up to it we catch up
    this.snapshot = null;
  }

  // ------------------------------------------------------------------------------------------------- calls of the user

  /** Starts to connect. The outcome settles "connect". */
  start(now) {
    if (this.phase !== "idle") return [];
    this.giveUpAt = now + this.options.connectTimeoutMs;
    return this.#attempt(now);
  }

  /** Says goodbye: the seat is given up at once if the link stands. */
  stop(now) {
    if (this.phase === "idle") return [settle("disconnect")];
    if (this.phase !== "live") return [...this.#end(ErrorCode.success, "disconnected by the caller")];
    this.phase = "leaving";
    this.deadline = now + this.options.goodbyeTimeoutMs;
    return [this.#message(this.nextId++, "disconnect", {})];
  }

  /** A call that is answered; it is sent again with the same id until it is. Returns `{id, effects}`. */
  request(name, body, now) {
    const id = this.nextId;
    const refusal = this.#refusal(name, body);
    if (refusal) return { id: 0, effects: [settle(0, refusal)] };
    this.nextId++;
    const request = { id, name, body, run: 0, retryAt: Infinity };
    this.requests.set(id, request);
    return { id, effects: this.phase === "live" ? [this.#sendRequest(request)] : [] };
  }

  /** An input for the next frame. It is settled when it is seen in a frame. Returns `{id, effects}`. */
  input(payload, now) {
    const body = { ...payload, frameSyncId: this.frameSync?.frameSyncId ?? 0 };
    const refusal = this.#refusal("sendFrameInput", body);
    if (refusal) return { id: 0, effects: [settle(0, refusal)] };
    const id = this.nextId++;
    const input = { id, body, run: 0, link: 0, retryAt: Infinity };
    const behind = this.#backlog();
    this.inputs.set(id, input);
    return { id, effects: this.phase === "live" && !behind ? [this.#sendInput(input)] : [] };
  }

  /** A call without a reply: it is sent if the link stands, and not again. A refusal comes as the event `refused`. */
  notify(name, body) {
    if (this.phase !== "live" || this.#refusal(name, body)) return [];
    const id = this.nextId++;
    this.loose.set(id, name);
    if (this.loose.size > 64) this.loose.delete(this.loose.keys().next().value);
    return [this.#message(id, name, body)];
  }

  /** Drops the link as a broken network would; it comes back after `holdMs` at the earliest. */
  drop(now, holdMs = 0) {
    if (this.phase === "idle" || this.phase === "leaving") return [];
    return this.#lost(now, ErrorCode.networkError, "the link was cut", holdMs);
  }

  /** The network seems to be back: does not wait for the rest of the backoff. */
  hurry(now) {
    if (this.phase === "backoff") this.deadline = Math.min(this.deadline, now);
    return this.tick(now);
  }

  #refusal(name, body) {
    if (this.phase === "idle" || this.phase === "leaving") return new HoldfastError(ErrorCode.notConnected);
    if (this.requests.size >= this.options.openRequests || this.inputs.size >= this.options.openInputs) {
      return new HoldfastError(ErrorCode.rateLimited, "too many calls are unanswered");
    }
    // A longer message would cost the link.
    const text = JSON.stringify(body);
    const limit = this.options.messageBytes - 64;
    if (text.length * 3 > limit && new TextEncoder().encode(text).length > limit) {
      const most = this.options.messageBytes;
      return new HoldfastError(ErrorCode.invalidRequest, `${name}: the message is over ${most} bytes`);
    }
    return null;
  }

  // ------------------------------------------------------------------------------------------- what the shell reports

  tokenReady(ask, token, now) {
    if (ask !== this.ask) return [];
    this.token = token;
    if (this.phase === "token") return this.#open(now);
    if (this.phase === "regreeting") return this.#greet(now);
    return [];
  }

  tokenFailed(ask, message, now) {
    if (ask !== this.ask || (this.phase !== "token" && this.phase !== "regreeting")) return [];
    const reason = `no token: ${message}`;
    // Whatever hands out tokens may be back in a moment; how long that is tried is bounded like the rest of connecting.
    return this.#lost(now, ErrorCode.networkError, reason);
  }

  opened(link, now) {
    if (link !== this.link || this.phase !== "opening") return [];
    return this.#greet(now);
  }

  closed(link, now, reason = "") {
    if (link !== this.link || this.phase === "idle" || this.phase === "backoff" || this.phase === "token") return [];
    if (this.phase === "leaving") return this.#end(ErrorCode.success, "");
    return this.#lost(now, ErrorCode.networkError, reason || "the link broke");
  }

  received(link, text, now) {
    if (link !== this.link || !["greeting", "regreeting", "live", "leaving"].includes(this.phase)) return [];
    this.heardAt = now;
    this.unansweredSince = Infinity;
    let message;
    try {
      message = decodeMessage(text);
    } catch {
      return this.#lost(now, ErrorCode.networkError, "the server's message cannot be read");
    }
    const { id, seq, name, body } = message;
    if (name === "disconnected") return this.#disconnected(body, now);
    if (id !== 0) return this.#reply(id, name, body, now);
    return this.#event(seq, name, body, now);
  }

  /** Does what has come due. */
  tick(now) {
    if (this.phase === "idle") return [];
    if (this.phase !== "live" && this.phase !== "leaving" && now >= this.giveUpAt) {
      return this.#end(ErrorCode.networkError, "no server could be reached");
    }
    switch (this.phase) {
      case "backoff":
        return now >= this.deadline ? this.#attempt(now) : [];
      case "opening":
      case "greeting":
      case "regreeting":
        if (now >= this.connectRetryAt) return this.#greet(now, this.connectId);
        return now >= this.deadline ? this.#lost(now, ErrorCode.networkError, "the server does not answer") : [];
      case "leaving":
        return now >= this.deadline ? this.#end(ErrorCode.success, "") : [];
      case "live":
        return this.#tickLive(now);
      default:
        return [];
    }
  }

  #tickLive(now) {
    if (now >= this.#silentAt) return this.#lost(now, ErrorCode.networkError, "nothing was heard for too long");
    const effects = [];
    if (now >= this.pingAt) {
      this.pingId = this.nextId++;
      this.pingedAt = now;
      this.pingAt = now + this.heartbeatMs / 2;
      this.unansweredSince = Math.min(this.unansweredSince, now);
      effects.push(this.#message(this.pingId, "ping", { clientTime: String(Math.round(now)) }));
    }
    for (const request of this.requests.values()) if (now >= request.retryAt) effects.push(this.#sendRequest(request));
    for (const input of this.inputs.values()) if (now >= input.retryAt) effects.push(this.#sendInput(input));
    return effects;
  }

  /** When the link counts as dead. Silence that no ping has questioned (a page asleep sends none) proves nothing. */
  get #silentAt() {
    return Math.max(this.heardAt + 2 * this.heartbeatMs, this.unansweredSince + this.heartbeatMs);
  }

  /** When `tick` should be called at the latest. */
  get wakeAt() {
    if (this.phase === "idle") return Infinity;
    if (this.phase === "leaving") return this.deadline;
    if (this.phase !== "live") return Math.min(this.deadline, this.giveUpAt, this.connectRetryAt);
    let at = Math.min(this.pingAt, this.#silentAt);
    for (const request of this.requests.values()) at = Math.min(at, request.retryAt);
    for (const input of this.inputs.values()) at = Math.min(at, input.retryAt);
    return at;
  }

  // ------------------------------------------------------------------------------------------ connecting and resuming

  #attempt(now) {
    this.deadline = Infinity;
    if (this.resumeToken) return this.#open(now);
    this.phase = "token";
    this.ask++;
    return [{ do: "token", ask: this.ask }];
  }

  #open(now) {
    this.phase = "opening";
    this.link++;
    this.deadline = now + this.options.openTimeoutMs;
    this.connectRetryAt = Infinity;
    return [{ do: "open", link: this.link, url: this.url }];
  }

  /** The endpoint in use. */
  get url() {
    return this.options.endpoints[this.endpoint % this.options.endpoints.length];
  }

  /** The position that a resume presents. */
  get position() {
    return {
      resumeToken: this.resumeToken,
      roomSeq: Math.max(this.seenSeq, this.joinedSeq),
      roomId: this.room?.id ?? "",
      frameSyncId: this.frameSync?.frameSyncId ?? 0,
      frameId: this.frameSync ? this.nextFrame - 1 : 0,
    };
  }

  #greet(now, id = this.nextId++) {
    this.phase = "greeting";
    this.deadline = now + this.options.openTimeoutMs;
    this.connectRetryAt = Infinity;
    this.connectId = id;
    const connect = { client: this.options.client };
    if (this.resumeToken) connect.resume = { ...this.position, roomSeq: String(this.position.roomSeq) };
    else connect.token = this.token;
    return [this.#message(id, "connect", connect)];
  }

  #connectFailed(error, now) {
    switch (error.code) {
      case ErrorCode.resumeExpired:
        if (!this.resumeToken) return this.#end(error.code, error.message);
        // The link stays open for another `connect`, this time with a token. The seat may live on, so may our position.
        this.resumeToken = "";
        this.phase = "regreeting";
        this.deadline = now + this.options.openTimeoutMs;
        this.ask++;
        return [{ do: "token", ask: this.ask }];
      case ErrorCode.draining:
        return this.#lost(now, error.code, error.message);
      case ErrorCode.serverError:
      case ErrorCode.rateLimited:
        if (!error.retryAfterMs) return this.#lost(now, error.code, error.message);
        this.connectRetryAt = now + error.retryAfterMs;
        this.deadline = this.connectRetryAt + this.options.openTimeoutMs;
        return [];
      default:
        return this.#end(error.code, error.message);
    }
  }

  #connected(body, now) {
    const again = this.everConnected;
    this.phase = "live";
    this.everConnected = true;
    this.deadline = Infinity;
    this.giveUpAt = Infinity;
    this.liveSince = now;
    this.pingAt = now;
    this.pingedAt = now;
    this.pingId = 0;
    this.playerId = body.playerId;
    this.resumeToken = body.resumeToken;
    this.heartbeatMs = body.heartbeatMs || 5000;
    this.clockOffsetMs = body.serverTime - now;
    this.loose.clear();
    if (!body.resumed) this.run++;

    const before = { roomId: this.room?.id, frameSyncId: this.frameSync?.frameSyncId ?? 0 };
    const framesRestarted = this.#standInRoom(body);
    // Its end was told while we were away, and is not kept.
    const endedUnseen = before.frameSyncId !== 0 && body.roomRestarted && this.room?.id === before.roomId
      && this.frameSync?.frameSyncId !== before.frameSyncId;
    const report = {
      playerId: body.playerId, resumed: body.resumed, room: this.room, roomRestarted: body.roomRestarted,
      frameSync: body.frameSync, snapshot: framesRestarted ? body.snapshot : null, framesRestarted,
      serverTime: body.serverTime, node: body.node, downMs: again ? now - this.downSince : 0,
    };
    const effects = [];
    if (!again) effects.push({ do: "settle", id: "connect", value: report }, event("connected", report));
    else effects.push(event("reconnected", report));
    if (endedUnseen) effects.push(event("frameSyncStopped", { ...before, reason: -1 }));
    if (!body.resumed && again) effects.push(...this.#forgetOldRun());
    if (!this.room) effects.push(...this.#refuseInputs(() => true, ErrorCode.notInRoom));
    for (const request of this.requests.values()) effects.push(this.#sendRequest(request));
    effects.push(...this.#sendInputsAgain());
    return effects;
  }

  /** Takes over where the player stands after `connected`. Returns whether frames start anew for the user. */
  #standInRoom(body) {
    const { room, frameSync, snapshot } = body;
    if (!room) {
      this.#leaveRoom();
      return false;
    }
    const same = this.room?.id === room.id;
    if (!same) this.#leaveRoom();
    const restarted = !same || body.roomRestarted;
    this.room = room;
    this.mirrorSeq = body.roomSeq;
    this.snapshot = snapshot;
    if (restarted) this.seenSeq = Math.max(this.seenSeq, body.roomSeq);
    const running = frameSync !== null && this.frameSync?.frameSyncId === frameSync.frameSyncId;
    if (running) this.sealed = frameSync.frameId;
    // The stream goes on where it was: its own events tell of stops and starts in between.
    if (!restarted) return false;
    if (running && !(snapshot && snapshot.frameId >= this.nextFrame)) return false;
    this.#startFrames(frameSync, snapshot);
    return frameSync !== null;
  }

  #startFrames(frameSync, snapshot) {
    this.frameSync = frameSync;
    this.nextFrame = frameSync && snapshot ? snapshot.frameId + 1 : 1;
    this.sealed = frameSync?.frameId ?? 0;
  }

  /** What was sent in a run that is over may have been done or not: nobody can tell any more. */
  #forgetOldRun() {
    const effects = [];
    const error = new HoldfastError(ErrorCode.networkError, "the run ended before the answer came");
    for (const { id, name, run } of [...this.requests.values()]) {
      if (run === 0 || repeatable.has(name)) continue;
      this.requests.delete(id);
      effects.push(settle(id, error));
    }
    effects.push(...this.#refuseInputs((input) => input.run !== 0, ErrorCode.networkError, error.message));
    return effects;
  }

  #disconnected({ code, message, mayReconnect }, now) {
    if (this.phase === "leaving" || code === ErrorCode.success) return this.#end(ErrorCode.success, message);
    if (code === ErrorCode.replaced || !mayReconnect) return this.#end(code, message);
    return this.#lost(now, code, message);
  }

  /** The link is gone, we come back. */
  #lost(now, code, message, holdMs = 0) {
    const { backoffFirstMs, backoffLimitMs, giveUpAfterMs, endpoints } = this.options;
    const wasLive = this.phase === "live";
    const effects = this.link && this.phase !== "backoff" && this.phase !== "token" ? [this.#close()] : [];
    if (wasLive) {
      this.downSince = now;
      this.giveUpAt = now + giveUpAfterMs;
      if (now - this.liveSince >= this.options.stableAfterMs) this.attempts = this.drains = 0;
    }
    let delay = Math.min(backoffFirstMs * 2 ** this.attempts, backoffLimitMs) * (0.5 + this.options.random() / 2);
    // A node that leaves says so: another one takes over at once. When each has said it, there is no hurry.
    if (code === ErrorCode.draining && ++this.drains <= Math.max(1, endpoints.length - 1)) delay = 0;
    else this.attempts++;
    if (!wasLive || code === ErrorCode.draining) this.endpoint = (this.endpoint + 1) % endpoints.length;
    this.phase = "backoff";
    this.connectRetryAt = Infinity;
    this.deadline = now + Math.max(delay, holdMs);
    if (this.everConnected) {
      const delayMs = this.deadline - now;
      effects.push(event("reconnecting", { code, message, attempt: this.attempts, delayMs, url: this.url }));
    }
    return effects;
  }

  #close() {
    return { do: "close", link: this.link };
  }

  /** The end: nothing is tried any more. */
  #end(code, message) {
    const effects = this.link ? [this.#close()] : [];
    const failure = new HoldfastError(code || ErrorCode.networkError, message);
    if (!this.everConnected) effects.push(settle("connect", failure));
    for (const id of this.requests.keys()) effects.push(settle(id, failure));
    for (const id of this.inputs.keys()) effects.push(settle(id, failure));
    effects.push(settle("disconnect"));
    effects.push(event("disconnected", { code, message, mayReconnect: false }));
    this.#reset();
    this.link++;
    return effects;
  }

  // ---------------------------------------------------------------------------------------------------------- replies

  #reply(id, name, body, now) {
    if (id === this.connectId && (this.phase === "greeting" || this.phase === "regreeting")) {
      if (name === "connected") return this.#connected(body, now);
      if (name !== "error") return [];
      return this.#connectFailed(new HoldfastError(body.code, body.message, body.retryAfterMs), now);
    }
    if (name === "pong") {
      if (id !== this.pingId) return [];
      this.roundTripMs = now - this.pingedAt;
      this.clockOffsetMs = body.serverTime - (now - this.roundTripMs / 2);
      return [event("roundTrip", { roundTripMs: this.roundTripMs })];
    }
    const request = this.requests.get(id) ?? this.inputs.get(id);
    if (name === "error") return this.#refused(id, request, body, now);
    if (!request || !this.requests.delete(id)) return [];
    let value = name === "ok" ? undefined : body;
    const effects = [];
    if (name === "roomJoined") value = this.#joined(body);
    if (name === "ok" && request.name === "leaveRoom") effects.push(...this.#outOfRoom());
    effects.push({ do: "settle", id, value });
    return effects;
  }

  #refused(id, request, { code, message, retryAfterMs }, now) {
    const error = new HoldfastError(code, message, retryAfterMs);
    if (!request) {
      const name = this.loose.get(id);
      this.loose.delete(id);
      return name ? [event("refused", { call: name, error })] : [];
    }
    // The node leaves: the call is made again where we come back.
    if (code === ErrorCode.draining) return this.#lost(now, code, message);
    if (code === ErrorCode.serverError && retryAfterMs > 0) {
      request.retryAt = now + retryAfterMs;
      return [];
    }
    this.requests.delete(id);
    this.inputs.delete(id);
    return [settle(id, error)];
  }

  #joined(body) {
    const alreadyIn = this.room?.id === body.room?.id;
    if (alreadyIn) {
      // `connected` has told of this room before the answer was asked for again: its stream goes on.
      this.joinedSeq = Math.max(this.joinedSeq, body.roomSeq);
      if (body.roomSeq >= this.mirrorSeq) {
        this.room = body.room;
        this.mirrorSeq = body.roomSeq;
      }
    } else {
      this.#leaveRoom();
      this.room = body.room;
      this.mirrorSeq = this.seenSeq = this.joinedSeq = body.roomSeq;
      this.snapshot = body.snapshot;
      this.#startFrames(body.frameSync, body.snapshot);
    }
    return { ...body, room: this.room, alreadyIn };
  }

  #outOfRoom() {
    this.#leaveRoom();
    return this.#refuseInputs(() => true, ErrorCode.notInRoom);
  }

  #message(id, name, body) {
    return { do: "send", link: this.link, text: JSON.stringify({ id, [name]: body }) };
  }

  #sendRequest(request) {
    request.run = this.run;
    request.retryAt = Infinity;
    return this.#message(request.id, request.name, request.body);
  }

  // ----------------------------------------------------------------------------------------------------------- events

  #event(seq, name, body, now) {
    if (name === "error") return [event("refused", { call: "", error: new HoldfastError(body.code, body.message) })];
    if (name === "frame") {
      this.#seen(seq);
      return this.#frame(body, now, body.id <= this.sealed);
    }
    if (name === "frames") return this.#frames(seq, body, now);
    if (!name || sessionBodies.has(name)) return name ? [event(name, body)] : [];
    if (seq !== 0 && this.room) {
      if (seq <= this.seenSeq) return []; // a repeat
      this.seenSeq = seq;
    }
    const effects = [event(name, body)];
    if (seq === 0 || seq > this.mirrorSeq) this.#mirror(name, body, seq);
    effects.push(...this.#follow(name, body));
    return effects;
  }

  #seen(seq) {
    if (this.room && seq > this.seenSeq) this.seenSeq = seq;
  }

  /** What an event means for our own place and for the stream of frames. */
  #follow(name, body) {
    switch (name) {
      case "frameSyncStarted":
        if (this.room) this.#startFrames(body, null);
        return [];
      case "frameSyncStopped": {
        if (this.frameSync?.frameSyncId !== body.frameSyncId) return [];
        this.#startFrames(null, null);
        const mine = (input) => input.body.frameSyncId === body.frameSyncId;
        return this.#refuseInputs(mine, ErrorCode.frameSyncNotRunning, "frame sync stopped before the input's frame");
      }
      case "playerKicked":
        return body.playerId === this.playerId ? this.#outOfRoom() : [];
      case "roomDismissed":
        return this.#outOfRoom();
      case "serviceError":
        return body.code === ErrorCode.serverError ? this.#outOfRoom() : [];
      default:
        return [];
    }
  }

  #mirror(name, body, seq) {
    const room = this.room;
    if (!room) return;
    if (seq) this.mirrorSeq = seq;
    const player = room.players.find((one) => one.id === body.playerId);
    if (body.roomOwnerId) room.ownerId = body.roomOwnerId;
    switch (name) {
      case "playerEntered":
        room.players = room.players.filter((one) => one.id !== body.player.id).concat(body.player);
        break;
      case "playerLeft":
      case "playerKicked":
        room.players = room.players.filter((one) => one !== player);
        break;
      case "playerOffline":
        if (player) player.status = 0;
        break;
      case "playerOnline":
        if (player) player.status = 1;
        break;
      case "roomPropertiesChanged":
        room.name = body.name;
        room.customProperties = body.customProperties;
        break;
      case "playerCustomStatusChanged":
        if (player) player.customStatus = body.status;
        break;
      case "playerCustomPropertiesChanged":
        if (player) player.customProperties = body.properties;
        break;
      case "frameSyncStarted":
        room.status = 1;
        break;
      case "frameSyncStopped":
        room.status = 0;
        break;
      default:
    }
  }

  // ----------------------------------------------------------------------------------------------- frames and inputs

  #frames(seq, body, now) {
    if (!this.frameSync) return [];
    if (body.frameSyncId && body.frameSyncId !== this.frameSync.frameSyncId) return [];
    const effects = [];
    const first = body.frames[0]?.id ?? 0;
    if (first > this.nextFrame && body.firstKept > this.nextFrame) {
      const snapshot = this.snapshot && this.snapshot.frameId >= first - 1 ? this.snapshot : null;
      effects.push(event("framesLost", { first: this.nextFrame, last: first - 1, snapshot }));
      this.nextFrame = first;
    }
    for (const frame of body.frames) {
      effects.push(...this.#frame(frame, now, true));
      if (this.phase !== "live") return effects;
    }
    this.#seen(seq);
    return effects;
  }

  #frame(frame, now, catchingUp) {
    if (!this.frameSync || frame.id < this.nextFrame) return [];
    if (frame.id > this.nextFrame) {
      return this.#lost(now, ErrorCode.networkError, `frame ${this.nextFrame} is missing before ${frame.id}`);
    }
    this.nextFrame++;
    const effects = [];
    for (const input of frame.inputs) {
      if (input.playerId === this.playerId) effects.push(...this.#inputSeen(input.id, frame.id));
    }
    const frameSyncId = this.frameSync.frameSyncId;
    effects.push(event("frame", { ...frame, frameSyncId, catchingUp }));
    if (!catchingUp) effects.push(...this.#sendInputsAgain());
    return effects;
  }

  #inputSeen(id, frameId) {
    if (!this.inputs.has(id)) return [];
    const effects = [];
    for (const earlier of this.inputs.keys()) {
      if (earlier > id) break;
      this.inputs.delete(earlier);
      // The server takes ids in growing order only: one that was passed over will not come any more.
      const lost = new HoldfastError(ErrorCode.networkError, "the input's frame was not seen");
      effects.push(earlier === id ? { do: "settle", id, value: { id, frameId } } : settle(earlier, lost));
    }
    return effects;
  }

  #sendInput(input) {
    input.run = this.run;
    input.link = this.link;
    input.retryAt = Infinity;
    return this.#message(input.id, "sendFrameInput", input.body);
  }

  #backlog() {
    for (const input of this.inputs.values()) if (input.link !== this.link) return true;
    return false;
  }

  /** A few at a time, in their order, so that a long backlog does not run into the limit of a frame. */
  #sendInputsAgain() {
    const effects = [];
    if (this.phase !== "live" || this.inputs.size === 0) return effects;
    const most = this.frameSync ? this.options.inputsAtOnce : Infinity;
    for (const input of this.inputs.values()) {
      if (effects.length >= most) break;
      if (input.link !== this.link) effects.push(this.#sendInput(input));
    }
    return effects;
  }

  #refuseInputs(which, code, message) {
    const effects = [];
    for (const input of [...this.inputs.values()]) {
      if (!which(input)) continue;
      this.inputs.delete(input.id);
      effects.push(settle(input.id, new HoldfastError(code, message)));
    }
    return effects;
  }
}

function settle(id, error) {
  return error ? { do: "settle", id, error } : { do: "settle", id, value: undefined };
}

function event(name, body) {
  return { do: "event", name, body };
}

// ------------------------------------------------------------------------------------------------------------ the shell

/** A player's client. One player has one client; see holdfast.d.ts for every call and event. */
export class HoldfastClient {
  #machine;
  #options;
  #sockets = new Map();
  #promises = new Map();
  #handlers = new Map();
  #timer = null;
  #timerAt = Infinity;
  #resumes = 0;
  #queue = [];
  #performing = false;
  #online = () => this.#perform(this.#machine.hurry(this.#now()));

  constructor(options) {
    const endpoints = options.endpoints ?? (options.url ? [options.url] : []);
    this.#options = { WebSocket: globalThis.WebSocket, ...options };
    if (!this.#options.WebSocket) throw new TypeError("no WebSocket here: pass one in the options");
    const { random = Math.random } = options;
    const given = ["client", "connectTimeoutMs", "giveUpAfterMs"].filter((name) => options[name] !== undefined)
      .map((name) => [name, options[name]]);
    // Ids of two lives of one player (a reloaded page) must not meet in the frames that both see.
    const firstId = 1 + Math.floor(random() * 2 ** 20) * 1024;
    this.#machine = new ClientMachine({ endpoints, random, firstId, ...Object.fromEntries(given) });
  }

  // State

  get playerId() { return this.#machine.playerId; }
  get room() { return this.#machine.room; }
  get frameSync() { return this.#machine.frameSync; }
  get lastFrameId() { return this.#machine.nextFrame - 1; }
  get isOwner() { return this.room !== null && this.room.ownerId === this.playerId; }
  get isSpectator() { return this.room !== null && !this.room.players.some((one) => one.id === this.playerId); }
  get roundTripMs() { return this.#machine.roundTripMs; }
  get resumes() { return this.#resumes; }
  get serverTime() { return Math.round(this.#now() + this.#machine.clockOffsetMs); }
  get state() {
    const { phase, everConnected } = this.#machine;
    if (phase === "idle" || phase === "live") return phase === "live" ? "connected" : "idle";
    return phase === "leaving" ? "disconnecting" : everConnected ? "reconnecting" : "connecting";
  }

  // Events

  on(name, handler) {
    if (!this.#handlers.has(name)) this.#handlers.set(name, new Set());
    this.#handlers.get(name).add(handler);
    return () => this.off(name, handler);
  }

  off(name, handler) {
    this.#handlers.get(name)?.delete(handler);
  }

  once(name, handler) {
    const off = this.on(name, (body) => {
      off();
      handler(body);
    });
    return off;
  }

  // Connection

  connect() {
    if (this.#machine.phase !== "idle") return Promise.reject(new HoldfastError(ErrorCode.alreadyConnected));
    return this.#promise("connect", () => this.#machine.start(this.#now()));
  }

  disconnect() {
    return this.#promise("disconnect", () => this.#machine.stop(this.#now()));
  }

  dropLink(holdMs = 0) {
    this.#perform(this.#machine.drop(this.#now(), holdMs));
  }

  // Rooms

  createRoom(room, player) { return this.#call("createRoom", { room, player }); }
  matchRoom(room, { player, timeoutMs } = {}) { return this.#call("matchRoom", { room, player, timeoutMs }); }
  cancelMatch() { return this.#call("cancelMatch", {}); }
  getRoomList({ roomType, offset, limit, toSpectate } = {}) {
    return this.#call("getRoomList", { roomType, offset, limit, toSpectate });
  }
  joinRoom(roomId, { player, asSpectator, password } = {}) {
    return this.#call("joinRoom", { roomId, player, asSpectator, password });
  }
  leaveRoom() { return this.#call("leaveRoom", {}); }
  updateRoomProperties({ name, customProperties }) {
    return this.#call("updateRoomProperties", { name, customProperties });
  }
  updatePlayerCustomStatus(status) { return this.#call("updatePlayerCustomStatus", { status }); }
  updatePlayerCustomProperties(properties) { return this.#call("updatePlayerCustomProperties", { properties }); }
  kickRoomPlayer(playerId, { ban } = {}) { return this.#call("kickRoomPlayer", { playerId, ban }); }
  transferRoomOwner(playerId) { return this.#call("transferRoomOwner", { playerId }); }
  dismissRoom() { return this.#call("dismissRoom", {}); }

  // Messages and frames

  sendCustomMessage(msg, { receivers } = {}) {
    return this.#call("sendCustomMessage", { msg, type: receivers ? 1 : 0, receivers });
  }
  startFrameSync() { return this.#call("startFrameSync", {}); }
  stopFrameSync() { return this.#call("stopFrameSync", {}); }
  sendFrameInput(data) {
    const payload = typeof data === "string" ? { data } : { dataBytes: toBase64(data) };
    const promise = this.#answer(this.#machine.input(payload, this.#now()));
    promise.catch(() => {}); // who does not look at an input's fate need not handle its refusal
    return promise;
  }
  getFrames(first, last) {
    return this.#call("getFrames", { first, last, frameSyncId: this.frameSync?.frameSyncId ?? 0 });
  }
  reportFrameHash(frameId, hash) {
    const body = { frameId, hash: toBase64(hash), frameSyncId: this.frameSync?.frameSyncId ?? 0 };
    this.#perform(this.#machine.notify("reportFrameHash", body));
  }
  putSnapshot(frameId, state) {
    const frameSyncId = this.frameSync?.frameSyncId ?? 0;
    return this.#call("putSnapshot", { frameId, state: toBase64(state), frameSyncId });
  }

  // Carrying out

  #now() {
    return performance.now();
  }

  #call(name, body) {
    return this.#answer(this.#machine.request(name, body, this.#now()));
  }

  #answer({ id, effects }) {
    return this.#promise(id, () => effects);
  }

  #promise(id, act) {
    return new Promise((resolve, reject) => {
      const waiting = this.#promises.get(id) ?? [];
      this.#promises.set(id, [...waiting, { resolve, reject }]);
      this.#perform(act());
    });
  }

  #perform(effects) {
    // A handler may call us in the middle: what its call orders waits for its turn, so that ids leave in their order.
    this.#queue.push(...effects);
    if (this.#performing) return;
    this.#performing = true;
    for (let effect = this.#queue.shift(); effect; effect = this.#queue.shift()) this.#carryOut(effect);
    this.#performing = false;
    this.#arm();
  }

  #carryOut(effect) {
    switch (effect.do) {
      case "token":
        this.#getToken(effect.ask);
        break;
      case "open":
        this.#open(effect.link, effect.url);
        break;
      case "send":
        this.#sockets.get(effect.link)?.send(effect.text);
        break;
      case "close": {
        const socket = this.#sockets.get(effect.link);
        this.#sockets.delete(effect.link);
        socket?.close(1000);
        break;
      }
      case "settle": {
        const waiting = this.#promises.get(effect.id) ?? [];
        this.#promises.delete(effect.id);
        for (const { resolve, reject } of waiting) {
          if (effect.error) reject(effect.error);
          else resolve(effect.value);
        }
        break;
      }
      default:
        this.#emit(effect.name, effect.body);
    }
  }

  #emit(name, body) {
    if (name === "reconnected") this.#resumes++;
    if (name === "connected") globalThis.addEventListener?.("online", this.#online);
    if (name === "disconnected") globalThis.removeEventListener?.("online", this.#online);
    for (const handler of [...(this.#handlers.get(name) ?? [])]) {
      try {
        handler(body);
      } catch (error) {
        // One bad handler must not cost the others their event, nor the machine its order.
        queueMicrotask(() => { throw error; });
      }
    }
  }

  async #getToken(ask) {
    try {
      const { token } = this.#options;
      const value = typeof token === "function" ? await token() : token;
      if (typeof value !== "string" || !value) throw new TypeError("the token is empty");
      this.#perform(this.#machine.tokenReady(ask, value, this.#now()));
    } catch (error) {
      this.#perform(this.#machine.tokenFailed(ask, error?.message ?? String(error), this.#now()));
    }
  }

  #open(link, url) {
    let socket;
    try {
      socket = new this.#options.WebSocket(url, ["holdfast.v1.json"]);
    } catch (error) {
      queueMicrotask(() => this.#perform(this.#machine.closed(link, this.#now(), error.message)));
      return;
    }
    this.#sockets.set(link, socket);
    socket.onopen = () => this.#perform(this.#machine.opened(link, this.#now()));
    socket.onmessage = ({ data }) => this.#perform(this.#machine.received(link, String(data), this.#now()));
    socket.onerror = () => {}; // a close follows and tells
    socket.onclose = ({ code, reason }) => {
      this.#sockets.delete(link);
      const why = `closed with ${code} ${reason ?? ""}`.trim();
      this.#perform(this.#machine.closed(link, this.#now(), why));
    };
  }

  #arm() {
    const at = this.#machine.wakeAt;
    if (at === this.#timerAt) return;
    // An earlier timer may stay: it wakes, finds nothing due, and is set anew.
    if (this.#timer !== null && this.#timerAt <= at && at !== Infinity) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#timerAt = at;
    if (at === Infinity) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#timerAt = Infinity;
      this.#perform(this.#machine.tick(this.#now()));
    }, Math.max(0, Math.ceil(at - this.#now())));
  }
}
