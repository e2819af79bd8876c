// Scatter: from a name to a match, a lobby, a round, and back. The rules are in sim.js, the link is the SDK's.
//
// For automation: ?player=ID &name=N &room=TYPE (the room type that is matched) &seconds=N (of a round) &join=ID
// &watch=ID &auto=1 (matches, gets ready, starts with ?players=N players, 2 by default, and plays by itself).
import { HoldfastClient, HoldfastError } from "../sdk/holdfast.js";
import { decide } from "./bot.js";
import { Controls } from "./controls.js";
import { Game } from "./game.js";
import {
  $, banner, chatLine, clearChat, nameOf, showClock, showGone, showLink, showLobby, showResult, showRooms, showScores,
  showScreen, toast,
} from "./screens.js";
import { FRAME_RATE, SEATS, encodeControls, hashBytes, hashOf, step } from "./sim.js";
import { Stats } from "./stats.js";
import { View, clockOf } from "./view.js";

const params = new URLSearchParams(location.search);
const auto = params.get("auto") === "1";
const roomType = (params.get("room") || "scatter").slice(0, 32);
const seconds = Number(params.get("seconds")) || 75;
const autoPlayers = Number(params.get("players")) || 2;
const CUT_MS = 2600; // long enough to see it, and for the others to see us away

const saved = { // a tab is a player; a reload comes back as the same
  get id() {
    const id = params.get("player") || sessionStorage.getItem("scatter.player");
    if (id) return id;
    return (this.id = `p-${Array.from(crypto.getRandomValues(new Uint8Array(5)), (n) => n.toString(36)).join("")}`);
  },
  set id(id) { sessionStorage.setItem("scatter.player", id); },
  get inRoom() { return sessionStorage.getItem("scatter.inRoom") === "1"; },
  set inRoom(value) { sessionStorage.setItem("scatter.inRoom", value ? "1" : "0"); },
  get name() { return sessionStorage.getItem("scatter.name") ?? localStorage.getItem("scatter.name") ?? ""; },
  set name(name) {
    sessionStorage.setItem("scatter.name", name);
    localStorage.setItem("scatter.name", name);
  },
};

let client = null;
let phase = "home"; // home, connecting, lobby, playing, result
let names = new Map();
let lastSent = null; // controls as the others know them
let sentSinceFrame = 0;
let resumed = null; // of the resume that we are catching up from
let inStep = true;
const complaints = []; // what was shown as going wrong, the last of it
let roundEnded = 0; // frames since the round was over

const game = new Game({
  report: (tick, hash) => { if (!client.isSpectator) client.reportFrameHash(tick, hashBytes(hash)); },
  keep: (tick, state) => { if (client.isOwner) client.putSnapshot(tick, state()).catch(complain); },
});
const preview = { game: new Game(), view: new View($("preview")), debt: 0 };
const view = new View($("arena"));
const stats = new Stats($("stats"), $("strip"));
const controls = new Controls({
  stick: $("stick"), knob: $("knob"), dash: $("dash"), changed: () => sendControls(),
  active: () => phase === "playing" && !client.isSpectator,
});

// ------------------------------------------------------------------------------------------------------- connecting

async function fetchToken() {
  const query = new URLSearchParams({ player: saved.id, name: saved.name || "Guest" });
  const reply = await fetch(`/dev/token?${query}`);
  if (!reply.ok) throw new Error(`the server says ${reply.status}`);
  return reply.json();
}

async function connect() {
  if (client && client.state !== "idle") return null;
  phase = "connecting";
  showLink("connecting");
  let first = await fetchToken();
  const token = async () => {
    const { token: value } = first ?? (await fetchToken());
    first = null;
    return value;
  };
  client = new HoldfastClient({ url: first.url, token, client: "scatter/1" });
  listen(client);
  const report = await client.connect();
  if (report.room) adopt(report);
  else phase = "home";
  return report;
}

function listen(client) {
  client.on("reconnecting", ({ delayMs }) => {
    showLink("reconnecting");
    const when = delayMs > 400 ? `Trying again in ${(delayMs / 1000).toFixed(1)} s` : "Trying again";
    banner("The link is cut", `${when} · frame ${client.lastFrameId}`);
  });
  client.on("reconnected", (report) => {
    stats.resumes++;
    resumed = { downMs: report.downMs, from: client.lastFrameId, caught: 0 };
    lastSent = null;
    if (!report.room && phase !== "home") leftRoom("Your seat is gone.");
    else if (report.room && (report.framesRestarted || phase === "connecting")) adopt(report);
    else if (report.room && phase === "playing" && !report.frameSync && report.roomRestarted) toLobby();
    else banner("", "");
    if (phase !== "playing") toast("Back again, nothing lost", "good");
    refresh();
  });
  client.on("disconnected", ({ code, message }) => {
    showLink("idle");
    if (code === 0) return;
    const again = () => enter(() => null);
    phase = "home";
    saved.inRoom = code !== 5 && saved.inRoom;
    game.end();
    showScreen("home");
    refresh();
    const elsewhere = "This player was opened again elsewhere.";
    if (code === 5) showGone("Playing in another tab", elsewhere, "Be someone new", renew);
    else showGone("The link is lost", message || "The server cannot be reached.", "Connect again", again);
  });
  client.on("roundTrip", ({ roundTripMs }) => showLink(client.state, roundTripMs));
  client.on("refused", ({ error }) => complain(error));

  client.on("playerEntered", ({ player }) => note(`${nameOf(player)} came in`));
  client.on("playerLeft", ({ playerId }) => note(`${nameById(playerId)} left`));
  client.on("playerOffline", ({ playerId }) => note(`${nameById(playerId)} lost the link`));
  client.on("playerOnline", ({ playerId }) => note(`${nameById(playerId)} is back`));
  client.on("roomOwnerChanged", refresh);
  client.on("playerCustomStatusChanged", () => { refresh(); autoStart(); });
  client.on("playerCustomPropertiesChanged", refresh);
  client.on("roomPropertiesChanged", refresh);
  client.on("playerKicked", ({ playerId }) => {
    if (playerId === client.playerId) leftRoom("You were removed from the room.");
    else note(`${nameById(playerId)} was removed`);
  });
  client.on("roomDismissed", () => leftRoom("The room is closed."));
  client.on("serviceError", () => leftRoom("The room is lost: its nodes died."));
  client.on("customMessageReceived", ({ playerId, msg }) => say(playerId, msg));

  client.on("frameSyncStarted", (info) => startRound(info, null));
  client.on("frame", onFrame);
  client.on("frameSyncStopped", ({ reason }) => onStopped(reason));
  client.on("framesLost", ({ snapshot }) => {
    if (snapshot) game.begin(client.frameSync, snapshot);
    else client.leaveRoom().then(() => leftRoom("Too much was missed to go on."), complain);
  });
  client.on("desyncDetected", ({ frameId }) => {
    inStep = false;
    toast(`Out of step at frame ${frameId}`, "bad");
  });
}

function renew() {
  sessionStorage.removeItem("scatter.player");
  location.search = "";
}

/** Does `act` connected, and shows what goes wrong. */
async function enter(act) {
  try {
    await connect();
    if (!client.room) await act();
  } catch (error) {
    complain(error);
    if (!client?.room) phase = "home";
    showLink(client?.state ?? "idle");
  }
}

function complain(error) {
  if (error instanceof HoldfastError && [6, 20, 25].includes(error.code)) return; // told by other means
  const plain = {
    notOwner: "Only the owner can do that.", roomFull: "That room is full.", roomNotFound: "There is no such room.",
    rateLimited: "A little slower, please.", bannedFromRoom: "You cannot come back to that room.",
  };
  complaints.push(`${error.name} ${error.message}`);
  if (complaints.length > 50) complaints.shift();
  toast(plain[error.name] ?? error.message, "bad");
}

// ----------------------------------------------------------------------------------------------------- rooms and lobby

const roomConfig = () => ({
  maxPlayerCount: SEATS, type: roomType, name: `${saved.name || "Guest"}’s arena`, frameRate: FRAME_RATE,
  allowLateJoin: true, maxSpectatorCount: 50, customProperties: JSON.stringify({ seconds }),
});
const playerConfig = () => ({ customProperties: JSON.stringify({ name: saved.name || "Guest" }) });

const match = async () => adopt(await client.matchRoom(roomConfig(), { player: playerConfig() }));
const create = async () => adopt(await client.createRoom(roomConfig(), playerConfig()));
const join = async (id, asSpectator = false) => {
  adopt(await client.joinRoom(id, { asSpectator, player: playerConfig() }));
};

/** Stands in a room, by a call or because `connected` says so. */
function adopt({ room, frameSync, snapshot, alreadyIn }) {
  if (alreadyIn && phase !== "connecting" && phase !== "home") return;
  saved.inRoom = true;
  clearChat();
  if (frameSync) startRound(frameSync, snapshot);
  else toLobby();
  note(frameSync ? "You came in during a round" : `Room ${room.id}`);
  autoReady();
}

function toLobby() {
  phase = "lobby";
  game.end();
  banner("");
  showScreen("lobby");
  refresh();
  autoStart();
}

function leftRoom(why) {
  phase = "home";
  saved.inRoom = false;
  game.end();
  banner("");
  showScreen("home");
  refresh();
  if (why) toast(why);
}

function refresh() {
  const room = client?.room;
  for (const player of room?.players ?? []) names.set(player.id, nameOf(player));
  $("roomChip").hidden = !room;
  if (room) $("roomChip").textContent = client.isSpectator ? `Watching ${room.name}` : room.name;
  document.body.classList.toggle("watching", Boolean(room) && client.isSpectator);
  if (room && phase === "lobby") showLobby(room, { me: client.playerId, act: lobbyAct });
}

function lobbyAct(name, id) {
  (name === "kick" ? client.kickRoomPlayer(id) : client.transferRoomOwner(id)).catch(complain);
}

const nameById = (id) => names.get(id) ?? id.slice(0, 10);

function note(text) {
  refresh();
  chatLine(text);
  if (phase === "playing") toast(text);
  autoStart();
}

function say(playerId, msg) {
  const seat = client.room?.players.findIndex(({ id }) => id === playerId) ?? -1;
  chatLine(msg, nameById(playerId), seat);
  if (phase === "playing" && playerId !== client.playerId) toast(`${nameById(playerId)}: ${msg}`);
}

const setReady = (ready) => client.updatePlayerCustomStatus(ready ? 1 : 0).catch(complain);

async function leave() {
  try {
    await client.leaveRoom();
    leftRoom("");
  } catch (error) {
    complain(error);
  }
}

// ------------------------------------------------------------------------------------------------------------- a round

function startRound(frameSync, snapshot) {
  for (const player of frameSync.roomInfo.players) names.set(player.id, nameOf(player));
  game.begin(frameSync, snapshot);
  view.reset();
  stats.restart();
  inStep = true;
  lastSent = null;
  roundEnded = 0;
  phase = "playing";
  controls.release();
  $("result").hidden = true;
  banner("");
  showScreen("game");
  refresh();
}

function onFrame(frame) {
  if (!game.state) return;
  const now = performance.now();
  try {
    game.frame(frame);
  } catch (error) {
    console.error(error); // a frame that does not follow: the SDK's promise is broken
    inStep = false;
    return;
  }
  stats.frameCame(now, frame);
  if (resumed) showCatchUp(frame);
  sentSinceFrame = 0;
  if (!frame.catchingUp && phase === "playing") {
    if (auto && frame.id % 3 === 0) autoplay();
    sendControls();
  }
  if (game.over) onOver(frame);
}

function showCatchUp(frame) {
  if (frame.catchingUp) {
    resumed.caught++;
    return;
  }
  const { downMs, caught } = resumed;
  resumed = null;
  const frames = caught === 1 ? "1 frame" : `${caught} frames`;
  banner("Resumed", `${(downMs / 1000).toFixed(1)} s away · ${frames} made up for`, { good: true, forMs: 3200 });
}

function sendControls() {
  if (phase !== "playing" || client.isSpectator || client.state !== "connected" || sentSinceFrame >= 2) return;
  if (!game.state || game.over) return;
  const value = auto ? botControls : controls.value;
  const key = `${value.x},${value.y},${value.dash}`;
  if (key === lastSent) return;
  lastSent = key;
  sentSinceFrame++;
  const sentAt = performance.now();
  client.sendFrameInput(encodeControls(value)).then(() => stats.inputCame(performance.now() - sentAt), complain);
}

function onOver(frame) {
  roundEnded++;
  if (phase === "playing") {
    phase = "result";
    controls.release();
    showResult(game.state, { me: client.playerId, name: nameById, hash: game.finalHash, watching: client.isSpectator });
    refresh();
  }
  // Whoever owns the room then stops it, a moment later so that every hash is compared.
  if (client.isOwner && !frame.catchingUp && roundEnded % FRAME_RATE === 0) client.stopFrameSync().catch(complain);
}

function onStopped(reason) {
  if (client.room && !client.isSpectator && !auto) setReady(false);
  if (phase === "result" || reason === 3) return;
  toast(reason === 0 ? "The owner ended the round" : "The round ended");
  toLobby();
}

// ---------------------------------------------------------------------------------------------------------- automation

let botControls = { x: 0, y: 0, dash: false };

function autoReady() {
  if (auto && !client.isSpectator) setReady(true);
}

function autoStart() {
  const room = client?.room;
  if (!auto || phase !== "lobby" || !client.isOwner || room.players.length < autoPlayers) return;
  const ready = room.players.every(({ id, customStatus }) => id === client.playerId || customStatus === 1);
  if (ready) client.startFrameSync().catch(complain);
}

function autoplay() {
  botControls = decide(game.state, client.playerId, client.playerId.length + game.tick);
}

window.__demo = {
  get phase() { return phase; },
  get frame() { return game.tick; },
  get hash() { return game.state ? hashOf(game.state) : ""; },
  get finalHash() { return game.finalHash; },
  get hashes() { return Object.fromEntries(game.hashes); },
  get state() { return game.state; },
  get resumes() { return stats.resumes; },
  get inStep() { return inStep; },
  complaints,
  get room() { return client?.room?.id ?? ""; },
  get stats() {
    const { delay, jitter, caughtUp } = stats;
    return { delay, jitter, caughtUp, roundTripMs: client?.roundTripMs ?? 0 };
  },
  cut: () => client.dropLink(CUT_MS),
};

// ------------------------------------------------------------------------------------------------------------- drawing

function startPreview() {
  const players = Array.from({ length: 5 }, (_, n) => ({ id: `robot ${n}`, status: 1 }));
  const roomInfo = { players, customProperties: JSON.stringify({ seconds: 90 }) };
  preview.game.begin({ roomInfo, seed: (Math.random() * 2 ** 31) | 0 }, null);
  for (let n = 0; n < 260; n++) stepPreview();
}

function stepPreview() {
  const { state } = preview.game;
  const inputs = state.pucks.filter(({ slot }) => (state.tick + slot) % 4 === 0).map(({ id, slot }) => ({
    playerId: id, dataBytes: encodeControls(decide(state, id, state.tick + slot)),
  }));
  preview.game.frame({ id: state.tick + 1, inputs, changes: [], catchingUp: true });
}

const calm = matchMedia("(prefers-reduced-motion: reduce)");

function drawPreview(ms) {
  if (!preview.game.state || preview.game.over) startPreview();
  preview.debt = calm.matches ? 0 : Math.min(200, preview.debt + ms);
  for (; preview.debt >= 1000 / FRAME_RATE; preview.debt -= 1000 / FRAME_RATE) stepPreview();
  preview.view.draw(preview.game.look(ms), ms);
}

let drawnAt = 0;

function draw(now) {
  requestAnimationFrame(draw);
  const ms = Math.min(250, now - drawnAt);
  drawnAt = now;
  if (document.body.dataset.screen === "home") drawPreview(ms);
  if (!game.state || document.body.dataset.screen !== "game") return;
  const look = game.look(ms);
  view.draw(look, ms, { me: client.playerId, nameOf: nameById });
  showScores(look.to, client.playerId, nameById);
  showClock(clockOf(look.to), game.over);
  const hash = game.finalHash || [...game.hashes.values()].at(-1);
  stats.show({ roundTripMs: client.roundTripMs, hash, inStep });
}

// ------------------------------------------------------------------------------------------------------------- buttons

function takeName() {
  const name = $("name").value.trim().slice(0, 16);
  if (name) saved.name = name;
  return true;
}

const onClick = (id, act) => $(id).addEventListener("click", act);

$("playForm").addEventListener("submit", (event) => {
  event.preventDefault();
  takeName();
  enter(match);
});
onClick("create", () => takeName() && enter(create));
onClick("browse", async () => {
  takeName();
  await enter(() => null);
  if (client?.state === "connected" && !client.room) browse();
});
$("joinForm").addEventListener("submit", (event) => {
  event.preventDefault();
  takeName();
  const id = $("roomId").value.trim();
  enter(() => join(id, event.submitter?.value === "watch"));
});

async function browse() {
  try {
    const [joinable, watchable] = await Promise.all([false, true].map((toSpectate) => (
      client.getRoomList({ roomType, limit: 50, toSpectate }))));
    showRooms(joinable.rooms, watchable.rooms, (how, id) => {
      $("rooms").close();
      enter(() => join(id, how === "watch"));
    });
    if (!$("rooms").open) $("rooms").showModal();
  } catch (error) {
    complain(error);
  }
}

onClick("refresh", browse);
onClick("closeRooms", () => $("rooms").close());
onClick("leaveLobby", leave);
onClick("leaveGame", leave);
onClick("leaveResult", leave);
onClick("ready", () => setReady($("ready").getAttribute("aria-pressed") !== "true"));
onClick("start", () => client.startFrameSync().catch(complain));
onClick("cut", () => {
  client.dropLink(CUT_MS);
  $("stage").focus({ preventScroll: true });
});
onClick("again", () => {
  if (!client.room) return leftRoom("");
  if (!client.isSpectator && !client.isOwner) setReady(true);
  toLobby();
});
onClick("invite", async () => {
  const link = new URL(location.pathname, location.href);
  link.searchParams.set("join", client.room.id);
  try {
    await navigator.clipboard.writeText(link.href);
    toast("Invite copied", "good");
  } catch {
    toast(link.href);
  }
});
$("chatForm").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = $("chatText").value.trim();
  if (!text) return;
  $("chatText").value = "";
  try {
    await client.sendCustomMessage(text);
    say(client.playerId, text);
  } catch (error) {
    $("chatText").value = text;
    complain(error);
  }
});

// --------------------------------------------------------------------------------------------------------------- start

if (params.get("name")) saved.name = params.get("name").slice(0, 16);
$("name").value = saved.name;
showScreen("home");
requestAnimationFrame(draw);
if (auto) {
  if (!saved.name) saved.name = saved.id.slice(0, 16);
  enter(params.get("watch") ? () => join(params.get("watch"), true) : match);
} else if (params.get("watch")) {
  enter(() => join(params.get("watch"), true));
} else if (params.get("join") && saved.name) {
  enter(() => join(params.get("join")));
} else if (params.get("join")) {
  $("roomId").value = params.get("join");
} else if (saved.inRoom) {
  enter(() => { saved.inRoom = false; });
}
