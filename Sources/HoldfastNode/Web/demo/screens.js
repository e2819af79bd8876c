// The page's parts that are not the arena: screens, lists, dialogs, toasts. Text from others goes in as text only.
import { SEATS, ranking } from "./sim.js";

export const $ = (id) => document.getElementById(id);

/** An element with a class, children or texts. */
export function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** A player's name from the properties that it set itself. */
export function nameOf(player) {
  try {
    const { name } = JSON.parse(player.customProperties);
    if (typeof name === "string" && name.trim()) return name.trim().slice(0, 16);
  } catch {
    // someone else's properties: the id will do
  }
  return player.id.slice(0, 10);
}

export function showScreen(name) {
  document.body.dataset.screen = name;
  for (const section of document.querySelectorAll("[data-for]")) section.hidden = section.dataset.for !== name;
  if (name === "game") $("stage").focus({ preventScroll: true });
  scrollTo(0, 0);
}

export function showLink(state, roundTripMs) {
  const texts = {
    idle: "Offline", connecting: "Connecting…", reconnecting: "Reconnecting…", disconnecting: "Leaving…",
    connected: roundTripMs ? `Connected · ${roundTripMs < 1 ? "<1" : Math.round(roundTripMs)} ms` : "Connected",
  };
  const chip = $("linkChip");
  chip.dataset.state = state;
  if (chip.lastElementChild.textContent !== texts[state]) chip.lastElementChild.textContent = texts[state];
}

export function toast(text, kind = "") {
  const one = make("div", `toast ${kind}`, text);
  $("toasts").append(one);
  while ($("toasts").children.length > 3) $("toasts").firstChild.remove();
  setTimeout(() => one.remove(), 3600);
}

let bannerTimer = 0;

/** A line over the arena; `forMs` 0: until it is replaced. An empty title takes it away. */
export function banner(title, text = "", { good = false, forMs = 0 } = {}) {
  clearTimeout(bannerTimer);
  const box = $("banner");
  box.hidden = !title;
  box.classList.toggle("good", good);
  $("bannerTitle").textContent = title;
  $("bannerText").textContent = text;
  $("stage").classList.toggle("cut", Boolean(title) && !good);
  if (forMs) bannerTimer = setTimeout(() => { box.hidden = true; }, forMs);
}

/** `act` is called with ("kick" or "own", player id). */
export function showLobby(room, { me, act }) {
  const owner = room.ownerId === me;
  $("lobbyTitle").textContent = room.name || "Room";
  $("lobbyId").textContent = room.id;
  $("watchers").textContent = room.spectatorCount ? ` · ${room.spectatorCount} watching` : "";
  const seats = room.players.slice(0, SEATS).map((player, index) => seatOf(room, player, index, { me, owner, act }));
  for (let n = seats.length; n < Math.min(SEATS, room.maxPlayerCount); n++) {
    seats.push(make("li", "seat empty", make("span", "puck"), "Open seat"));
  }
  $("seats").replaceChildren(...seats);
  const seated = room.players.some(({ id }) => id === me);
  const waiting = room.players.filter(({ id, status, customStatus }) => id !== room.ownerId && status && !customStatus);
  const enough = room.players.length >= 2;
  $("ready").hidden = !seated || owner;
  $("start").hidden = !owner;
  $("start").disabled = !enough || waiting.length > 0;
  const mine = room.players.find(({ id }) => id === me);
  $("ready").setAttribute("aria-pressed", String(mine?.customStatus === 1));
  $("ready").textContent = mine?.customStatus === 1 ? "Ready ✓" : "I’m ready";
  $("lobbyHint").textContent = hint(room, { owner, seated, enough, waiting, mine });
}

function hint(room, { owner, seated, enough, waiting, mine }) {
  if (!seated) return "You are watching. The round shows here when it starts.";
  if (!enough) return "Open this page in a second tab, or send the invite.";
  const names = waiting.map(nameOf).join(", ");
  if (owner) return waiting.length ? `Waiting for ${names}` : "Everyone is ready.";
  if (!mine?.customStatus) return "Tell the owner that you are ready.";
  return waiting.length ? `Waiting for ${names}` : "Waiting for the owner to start.";
}

function seatOf(room, player, index, { me, owner, act }) {
  const own = player.id === me;
  const state = make("small");
  if (!player.status) state.textContent = "away";
  else if (player.id === room.ownerId) state.textContent = "owner";
  else state.textContent = player.customStatus === 1 ? "ready" : "not ready";
  if (player.customStatus === 1 && player.id !== room.ownerId) state.className = "set";
  const title = make("strong", "", own ? `${nameOf(player)} (you)` : nameOf(player));
  const who = make("span", "who", title, state);
  const acts = make("span", "acts");
  if (owner && !own) {
    for (const [name, label, shape] of [["own", "Make owner", "crown"], ["kick", "Remove", "cross"]]) {
      const button = make("button", "small icon", icon(shape));
      button.type = "button";
      button.disabled = name === "own" && !player.status;
      button.title = `${label}: ${nameOf(player)}`;
      button.setAttribute("aria-label", button.title);
      button.addEventListener("click", () => act(name, player.id));
      acts.append(button);
    }
  }
  const puck = make("span", "puck", ...(player.id === room.ownerId ? [icon("crown")] : []));
  return make("li", `seat seat-${index} ${player.status ? "" : "away"}`, puck, who, acts);
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

const LINES = 100;

export function clearChat() {
  $("chat").replaceChildren();
}

/** `seat` is the speaker's seat, −1 for somebody without one; no name: a note. */
export function chatLine(text, name = "", seat = -1) {
  const line = make("li", name ? (seat >= 0 ? `seat-${seat}` : "") : "note");
  if (name) line.append(make("b", "", name));
  line.append(text);
  const chat = $("chat");
  chat.append(line);
  while (chat.children.length > LINES) chat.firstChild.remove();
  chat.scrollTop = chat.scrollHeight;
}

let scoresShown = "";

export function showScores(pose, me, name) {
  const order = ranking(pose);
  const key = order.map(({ id, score, online }) => `${id}:${score}:${online}:${name(id)}`).join();
  if (key === scoresShown) return;
  scoresShown = key;
  $("scores").replaceChildren(...order.map(({ id, slot, score, online }) => make(
    "li", `seat-${slot} ${id === me ? "me" : ""} ${online ? "" : "away"}`,
    make("i"), make("span", "", id === me ? "You" : name(id)), make("b", "", String(score)))));
}

export function showResult(state, { me, name, hash, watching }) {
  const order = ranking(state);
  const best = order.filter(({ score }) => score === order[0]?.score);
  const won = best.some(({ id }) => id === me);
  $("resultTitle").textContent = !order.length ? "Nobody left"
    : best.length > 1 ? (won ? "A tie, with you" : "A tie")
      : won ? "You win!" : `${name(best[0].id)} wins`;
  const rank = (score) => 1 + order.filter((other) => other.score > score).length;
  $("podium").replaceChildren(...order.map(({ id, slot, score }) => make(
    "li", `seat-${slot} ${rank(score) === 1 ? "best" : ""}`, make("em", "", String(rank(score))), make("i"),
    make("span", "", id === me ? `${name(id)} (you)` : name(id)), make("b", "", String(score)))));
  $("resultHash").textContent = `state ${hash}`;
  $("again").textContent = watching ? "Back to the room" : "Play again";
  $("result").hidden = false;
}

let clockShown = "", countShown = "";

export function showClock({ before, left, fresh }, over) {
  const text = over ? "" : `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  if (text !== clockShown) $("clock").textContent = text;
  $("clock").classList.toggle("late", left <= 10 && before === 0);
  clockShown = text;
  const count = over ? "" : before > 0 ? String(before) : fresh ? "Go!" : "";
  if (count !== countShown) $("count").replaceChildren(...(count ? [make("span", "", count)] : []));
  countShown = count;
}

/** `pick` is called with ("join" or "watch", room id). */
export function showRooms(joinable, watchable, pick) {
  const ids = new Map([...watchable, ...joinable].map((room) => [room.id, room]));
  const rows = [...ids.values()].sort((a, b) => b.createTime - a.createTime).map((room) => {
    const facts = `${room.playerCount} of ${room.maxPlayerCount} · ${room.status ? "in a round" : "in the lobby"}`;
    const row = make("li", "", make("div", "", make("strong", "", room.name || room.id), make("span", "dim", facts)));
    for (const [how, label, list] of [["watch", "Watch", watchable], ["join", "Join", joinable]]) {
      if (!list.some(({ id }) => id === room.id)) continue;
      const button = make("button", how === "join" ? "primary small" : "small", label);
      button.type = "button";
      button.setAttribute("aria-label", `${label} ${room.name || room.id}`);
      button.addEventListener("click", () => pick(how, room.id));
      row.append(button);
    }
    return row;
  });
  $("roomList").replaceChildren(...(rows.length ? rows : [make("li", "none", "No room is open. Make one.")]));
}

/** Tells of an end that needs an answer. */
export function showGone(title, text, action, act) {
  $("goneTitle").textContent = title;
  $("goneText").textContent = text;
  $("goneAction").textContent = action;
  $("goneAction").onclick = () => {
    $("gone").close();
    act();
  };
  if (!$("gone").open) $("gone").showModal();
}
