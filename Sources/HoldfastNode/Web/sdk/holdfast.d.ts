// Types of the Holdfast SDK for JavaScript. Sizes are bytes of UTF-8. 64-bit integers are numbers here, bytes are
// Uint8Array; every field of a received message is present (absent on the wire means its default).

/** Names and numbers of the error codes. */
export declare const ErrorCode: {
  readonly success: 0; readonly serverError: 1; readonly rateLimited: 3; readonly replaced: 5;
  readonly networkError: 6; readonly invalidRequest: 11; readonly invalidAuthorization: 12;
  readonly notConnected: 13; readonly alreadyConnected: 14; readonly requestInProgress: 15;
  readonly notImplemented: 16; readonly roomLimit: 19; readonly notInRoom: 20; readonly alreadyInRoom: 21;
  readonly notOwner: 22; readonly roomFull: 23; readonly roomNotFound: 24; readonly frameSyncNotRunning: 25;
  readonly frameSyncRunning: 26; readonly frameInputTooLarge: 28; readonly tooManyFrameInputs: 29;
  readonly playerNotFound: 30; readonly wrongPassword: 31; readonly bannedFromRoom: 32; readonly framesNotKept: 33;
  readonly matchTimeout: 34; readonly matchCancelled: 35; readonly notForSpectators: 36; readonly slowConsumer: 37;
  readonly draining: 38; readonly resumeExpired: 39; readonly invalidBattleRequest: 100002;
  readonly battleLimit: 100404; readonly battleNotFound: 100411; readonly noInviteeReachable: 100412;
  readonly notInBattle: 100414; readonly inOtherBattle: 100415; readonly battleRequestPending: 100416;
  readonly alreadyInThisBattle: 100419; readonly battleNotStarted: 100420; readonly battleEnded: 100421;
  readonly sessionAuthorizationFailure: 1004; readonly invalidSession: 1005; readonly sessionNotConnected: 1010;
  readonly sessionIllegalState: 1015; readonly sessionConnectionDropped: 1022; readonly sessionConnectionLimit: 1027;
  readonly signalDataTooLong: 1413; readonly invalidSignalType: 1461; readonly unableToForceDisconnect: 1520;
  readonly unableToSendSignal: 1550;
};

/** Every refused or failed call rejects with this. */
export declare class HoldfastError extends Error {
  constructor(code: number, message?: string, retryAfterMs?: number);
  /** A number of `ErrorCode`. */
  readonly code: number;
  /** Its name there, `unknownError` for a code that this SDK does not know. */
  readonly name: string;
  /** With `rateLimited`: when it is worth another try; 0 otherwise. */
  readonly retryAfterMs: number;
}

/** xorshift32 over a frame sync's seed: the same numbers in every SDK. */
export declare class LockstepRandom {
  /** @param seed `seed` of the frame sync, or a `state` taken before. */
  constructor(seed: number);
  /** The whole state, 32 bits: belongs into snapshots and hashes. */
  state: number;
  /** The next number, 0 … 2^31 − 1. */
  next(): number;
  /** The next number below `bound` (1 … 2^31 − 1). */
  below(bound: number): number;
}

// ---------------------------------------------------------------------------------------------------------- messages

export interface RoomConfig {
  /** 1 … 20. */
  maxPlayerCount: number;
  /** At most 32 bytes. */
  type: string;
  /** At most 64 bytes. */
  name?: string;
  /** At most 2048 bytes. */
  customProperties?: string;
  /** At most 3 pairs, keys of 32 and values of 64 bytes. */
  matchParams?: Record<string, string>;
  /** Frames a second, 1 … 60; 0 is the server's default, 15. */
  frameRate?: number;
  /** May be joined and matched while frame sync runs. */
  allowLateJoin?: boolean;
  /** Refuses leave, kick and changes of properties meanwhile (26). */
  lockedDuringFrameSync?: boolean;
  /** Neither listed nor matched. */
  hidden?: boolean;
  /** 0 … 100000; 0: no spectators. */
  maxSpectatorCount?: number;
  /** At most 64 bytes. */
  password?: string;
}

export interface PlayerConfig {
  /** Any int32. */
  customStatus?: number;
  /** At most 2048 bytes. */
  customProperties?: string;
}

export interface PlayerInfo {
  id: string;
  /** 0 offline, 1 online. */
  status: number;
  customStatus: number;
  customProperties: string;
}

export interface RoomInfo {
  id: string;
  name: string;
  type: string;
  ownerId: string;
  /** 0 idle, 1 frame sync runs. */
  status: number;
  customProperties: string;
  maxPlayerCount: number;
  /** In seat order. */
  players: PlayerInfo[];
  /** Seconds since 1970. */
  createTime: number;
  frameRate: number;
  spectatorCount: number;
  maxSpectatorCount: number;
  allowLateJoin: boolean;
  hasPassword: boolean;
  hidden: boolean;
  matchParams: Record<string, string>;
  lockedDuringFrameSync: boolean;
}

export interface RoomSummary {
  id: string;
  name: string;
  type: string;
  status: number;
  customProperties: string;
  maxPlayerCount: number;
  playerCount: number;
  createTime: number;
  hasPassword: boolean;
  spectatorCount: number;
}

export interface RoomList {
  rooms: RoomSummary[];
  /** Give it to the next call for the next page. */
  offset: string;
  hasMore: boolean;
}

export interface FrameSyncInfo {
  /** The room at the start of this frame sync, for late joiners too. */
  roomInfo: RoomInfo | null;
  frameSyncId: number;
  seed: number;
  /** Milliseconds since 1970. */
  serverTime: number;
  frameRate: number;
  /** Newest frame sealed when this was said; 0 at the start. */
  frameId: number;
}

export interface Snapshot {
  frameId: number;
  state: Uint8Array;
  playerId: string;
}

/** One of `data` and `dataBytes` is there, as its sender chose. */
export interface FrameInput {
  playerId: string;
  data?: string;
  dataBytes?: Uint8Array;
  /** Milliseconds since 1970, when it reached the room. */
  serverTime: number;
  id: number;
}

export interface SeatChange {
  playerId: string;
  /** 0 entered, 1 left, 2 offline, 3 online, 4 kicked. */
  kind: number;
}

export interface Frame {
  id: number;
  inputs: FrameInput[];
  changes: SeatChange[];
}

export interface Frames {
  frames: Frame[];
  firstKept: number;
  /** More follow: ask again from the frame after the last. */
  partial: boolean;
  frameSyncId: number;
}

export interface RoomJoined {
  /** The mirror, as in `HoldfastClient.room`. */
  room: RoomInfo;
  roomSeq: number;
  /** Present while frame sync runs. */
  frameSync: FrameSyncInfo | null;
  /** The frames after it follow as `frame` events; from 1 without one. */
  snapshot: Snapshot | null;
  /** `connected` or `reconnected` has told of this room already: its stream and its frames go on, load nothing anew. */
  alreadyIn: boolean;
}

/** What `connect` resolves to, and the body of `connected` and `reconnected`. */
export interface ConnectionReport {
  playerId: string;
  /** False: a new run began. Calls that were sent and not answered in the one before have been rejected (6). */
  resumed: boolean;
  /** The mirror; null: in no room (any more). */
  room: RoomInfo | null;
  /** True: the events of the gap are lost, the state is in `room`. */
  roomRestarted: boolean;
  frameSync: FrameSyncInfo | null;
  /** True: the `frame` events to come do not continue those before: start from `snapshot`, without one from frame 1. */
  framesRestarted: boolean;
  snapshot: Snapshot | null;
  /** Milliseconds since 1970. */
  serverTime: number;
  node: string;
  /** How long the link was down; 0 at the first connect. */
  downMs: number;
}

// ------------------------------------------------------------------------------------------------------------ events

export interface PlayerChange {
  roomId: string;
  /** The owner from now on. */
  roomOwnerId: string;
  playerId: string;
}

export interface HoldfastEvents {
  // The link
  /** The first connect has succeeded. */
  connected: ConnectionReport;
  /** The link broke; it comes back by itself after `delayMs`. Said again for each attempt that fails. */
  reconnecting: { code: number; message: string; attempt: number; delayMs: number; url: string };
  /** It is back. What was missed follows, in order, once. */
  reconnected: ConnectionReport;
  /** The end: nothing is tried any more. Code 0 after `disconnect`, 5 when another tab or device took over. */
  disconnected: { code: number; message: string; mayReconnect: false };
  /** The room is lost with all its replicas (1). */
  serviceError: { code: number; message: string };
  /** A ping was answered. */
  roundTrip: { roundTripMs: number };
  /** A call without a reply (`reportFrameHash`) was refused. `call` is empty when the server could not tell which. */
  refused: { call: string; error: HoldfastError };

  // The room. The mirror counts an event already when its handler runs.
  playerEntered: { roomId: string; player: PlayerInfo; roomOwnerId: string };
  playerLeft: PlayerChange;
  playerOffline: PlayerChange;
  playerOnline: PlayerChange;
  /** With the own id: you are out. */
  playerKicked: PlayerChange;
  roomOwnerChanged: { roomId: string; roomOwnerId: string };
  roomPropertiesChanged: { id: string; name: string; customProperties: string };
  playerCustomStatusChanged: { playerId: string; status: number };
  playerCustomPropertiesChanged: { playerId: string; properties: string };
  /** 0 owner, 1 no player left, 2 administrator. */
  roomDismissed: { roomId: string; reason: number };
  customMessageReceived: { playerId: string; msg: string };

  // Frames
  frameSyncStarted: FrameSyncInfo;
  /** Every frame once, in order, without a gap, whether it came live or was made up for (`catchingUp`). */
  frame: Frame & { frameSyncId: number; catchingUp: boolean };
  /** 0 owner, 1 time limit, 2 nobody online, 3 room closed; −1: while we were away, and why is not kept. */
  frameSyncStopped: { roomId: string; frameSyncId: number; reason: number };
  /**
   * The only gap there can be: the server does not keep these any more. `snapshot` is there when it covers the gap.
   * The next `frame` is `last + 1`.
   */
  framesLost: { first: number; last: number; snapshot: Snapshot | null };
  desyncDetected: { frameId: number; hashes: { playerId: string; hash: Uint8Array }[] };
}

// ------------------------------------------------------------------------------------------------------------ client

export interface HoldfastOptions {
  /** `ws://host:port/v1/connect` (or wss); one of `url` and `endpoints` is required. */
  url?: string;
  /** Several, tried in turn. */
  endpoints?: string[];
  /** The player's token, or what gets one; asked at the first connect and whenever a resume has expired. */
  token: string | (() => string | Promise<string>);
  /** The class to use where there is no global one. */
  WebSocket?: new (url: string, protocols: string[]) => unknown;
  /** Free text for the server's log, at most 128 bytes. */
  client?: string;
  /** How long the first `connect` may take over all attempts; 15000 by default. */
  connectTimeoutMs?: number;
  /** How long a broken link is tried again; 120000 by default. */
  giveUpAfterMs?: number;
  /** 0 ≤ value < 1; for tests. */
  random?: () => number;
}

/**
 * One player's client. Calls may be made while the link is down (once `connect` was called): they are sent when it is
 * back. A call that was not answered is sent again with its id after a resume and done at most once. Rejections are
 * `HoldfastError`.
 */
export declare class HoldfastClient {
  constructor(options: HoldfastOptions);

  readonly state: "idle" | "connecting" | "connected" | "reconnecting" | "disconnecting";
  readonly playerId: string;
  /** The mirror of the room, kept up to date; null in no room. Read it, do not change it. */
  readonly room: RoomInfo | null;
  /** The running frame sync as it was told last; its `frameId` does not move. */
  readonly frameSync: FrameSyncInfo | null;
  /** The last frame without a gap. */
  readonly lastFrameId: number;
  readonly isOwner: boolean;
  readonly isSpectator: boolean;
  /** Of the last ping; 0 before the first answer. */
  readonly roundTripMs: number;
  /** How often the link came back. */
  readonly resumes: number;
  /** The server's clock by the last ping, milliseconds since 1970. */
  readonly serverTime: number;

  /** Returns what takes the handler off again. */
  on<Name extends keyof HoldfastEvents>(name: Name, handler: (body: HoldfastEvents[Name]) => void): () => void;
  once<Name extends keyof HoldfastEvents>(name: Name, handler: (body: HoldfastEvents[Name]) => void): () => void;
  off<Name extends keyof HoldfastEvents>(name: Name, handler: (body: HoldfastEvents[Name]) => void): void;

  /** Rejects with 12 for a bad token, 6 when no server answers in time, 14 when it was called already. */
  connect(): Promise<ConnectionReport>;
  /** Gives the seat up at once if the link stands; without a link the seat ends with its resume window. */
  disconnect(): Promise<void>;
  /** Drops the link as a broken network would; it comes back after `holdMs` at the earliest. For tests and demos. */
  dropLink(holdMs?: number): void;

  createRoom(room: RoomConfig, player?: PlayerConfig): Promise<RoomJoined>;
  /** Joins an open room of the same `maxPlayerCount`, `type` and `matchParams`, waits (`timeoutMs`), or creates one. */
  matchRoom(room: RoomConfig, options?: { player?: PlayerConfig; timeoutMs?: number }): Promise<RoomJoined>;
  cancelMatch(): Promise<void>;
  getRoomList(options?: {
    roomType?: string; offset?: string; limit?: number; toSpectate?: boolean;
  }): Promise<RoomList>;
  joinRoom(roomId: string, options?: {
    player?: PlayerConfig; asSpectator?: boolean; password?: string;
  }): Promise<RoomJoined>;
  leaveRoom(): Promise<void>;
  /** Owner only. An absent field stays. */
  updateRoomProperties(properties: { name?: string; customProperties?: string }): Promise<void>;
  updatePlayerCustomStatus(status: number): Promise<void>;
  updatePlayerCustomProperties(properties: string): Promise<void>;
  /** Owner only. With `ban` that player cannot come back to this room. */
  kickRoomPlayer(playerId: string, options?: { ban?: boolean }): Promise<void>;
  transferRoomOwner(playerId: string): Promise<void>;
  dismissRoom(): Promise<void>;

  /** 1 … 2048 bytes; to everyone else, or to at most 20 `receivers`. */
  sendCustomMessage(msg: string, options?: { receivers?: string[] }): Promise<void>;

  /** Owner only. */
  startFrameSync(): Promise<void>;
  /** Owner only. */
  stopFrameSync(): Promise<void>;
  /**
   * At most 1024 bytes, and 5 a frame. Resolves when the input is seen in a frame. It is sent again after a resume
   * unless a frame has shown it, and counts once.
   */
  sendFrameInput(data: string | Uint8Array): Promise<{ id: number; frameId: number }>;
  /** Both inclusive; at most 600 frames a reply (`partial`). */
  getFrames(first: number, last: number): Promise<Frames>;
  /** 1 … 32 bytes. Not sent while the link is down; a refusal comes as `refused`. */
  reportFrameHash(frameId: number, hash: Uint8Array): void;
  /** At most 64 KiB, once a second. */
  putSnapshot(frameId: number, state: Uint8Array): Promise<void>;
}

// ----------------------------------------------------------------------------------------------------------- machine

/** What the machine orders. `id` of a settle is "connect", "disconnect" or that of a request. */
export type Effect =
  | { do: "token"; ask: number }
  | { do: "open"; link: number; url: string }
  | { do: "send"; link: number; text: string }
  | { do: "close"; link: number }
  | { do: "settle"; id: number | "connect" | "disconnect"; value?: unknown; error?: HoldfastError }
  | { do: "event"; name: string; body: unknown };

/** The pure state machine below `HoldfastClient`, for other shells and for tests. Times are milliseconds, monotonic. */
export declare class ClientMachine {
  constructor(options: {
    endpoints: string[]; client?: string; firstId?: number; random?: () => number; connectTimeoutMs?: number;
    giveUpAfterMs?: number; backoffFirstMs?: number; backoffLimitMs?: number; openTimeoutMs?: number;
    goodbyeTimeoutMs?: number; stableAfterMs?: number; openRequests?: number; openInputs?: number;
    inputsAtOnce?: number; messageBytes?: number;
  });
  readonly phase: "idle" | "token" | "opening" | "greeting" | "regreeting" | "live" | "backoff" | "leaving";
  readonly wakeAt: number;
  readonly url: string;
  readonly position: { resumeToken: string; roomSeq: number; roomId: string; frameSyncId: number; frameId: number };
  start(now: number): Effect[];
  stop(now: number): Effect[];
  request(name: string, body: object, now: number): { id: number; effects: Effect[] };
  input(payload: { data: string } | { dataBytes: string }, now: number): { id: number; effects: Effect[] };
  notify(name: string, body: object): Effect[];
  drop(now: number, holdMs?: number): Effect[];
  hurry(now: number): Effect[];
  tokenReady(ask: number, token: string, now: number): Effect[];
  tokenFailed(ask: number, message: string, now: number): Effect[];
  opened(link: number, now: number): Effect[];
  closed(link: number, now: number, reason?: string): Effect[];
  received(link: number, text: string, now: number): Effect[];
  tick(now: number): Effect[];
}
