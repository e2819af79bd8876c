// One frame sync as this page plays it: frames in, states, hashes and poses out.
import { FRAME_RATE, SEATS, createState, hashOf, isOver, restore, serialize, step } from "./sim.js";

const HASH_EVERY = FRAME_RATE; // frames
const SNAPSHOT_EVERY = 4 * FRAME_RATE;
const POSES = 48; // kept for drawing between frames
const HASHES = 240;

/** What the room says about its rounds. Anything may stand there: others write it too. */
export function roundSeconds(customProperties) {
  try {
    const { seconds } = JSON.parse(customProperties);
    return Number.isInteger(seconds) ? Math.min(180, Math.max(10, seconds)) : 75;
  } catch {
    return 75;
  }
}

export class Game {
  /** Called with (frame id, hash) now and then, and with (frame id, bytes) for snapshots. */
  constructor({ report = () => {}, keep = () => {} } = {}) {
    Object.assign(this, { report, keep });
    this.state = null;
    this.hashes = new Map();
    this.finalHash = "";
  }

  get tick() { return this.state?.tick ?? 0; }
  get over() { return this.state !== null && isOver(this.state); }

  /** Begins from a snapshot, or from the room as it was at the start. */
  begin({ roomInfo, seed }, snapshot) {
    const players = roomInfo.players.slice(0, SEATS).map(({ id, status }) => ({ id, online: status === 1 }));
    this.state = snapshot
      ? restore(snapshot.state)
      : createState({ seed, players, seconds: roundSeconds(roomInfo.customProperties) });
    this.hashes.clear();
    this.finalHash = "";
    this.poses = [poseOf(this.state, [])];
    this.playhead = this.state.tick;
    this.passed = this.state.tick;
  }

  end() {
    this.state = null;
  }

  /** Plays a frame. */
  frame(frame) {
    if (!this.state || this.over) return;
    const seen = step(this.state, frame);
    this.poses.push(poseOf(this.state, seen));
    if (this.poses.length > POSES) this.poses.shift();
    const { tick } = this.state;
    if (tick % HASH_EVERY === 0 || this.over) {
      const hash = hashOf(this.state);
      this.hashes.set(tick, hash);
      if (this.hashes.size > HASHES) this.hashes.delete(this.hashes.keys().next().value);
      if (this.over) this.finalHash = hash;
      this.report(tick, hash);
    }
    if (tick % SNAPSHOT_EVERY === 0 && !frame.catchingUp && !this.over) this.keep(tick, () => serialize(this.state));
  }

  /**
   * Moves the eye on by `ms`: a little behind the newest frame, faster when it falls behind, at once when far.
   * Returns the two poses around it, how far it is between them, and what it passed.
   */
  look(ms) {
    const newest = this.poses.at(-1).tick, oldest = this.poses[0].tick;
    const behind = newest - this.playhead;
    const jumped = behind > 10;
    const pace = 1 + Math.min(1, Math.max(-0.6, (behind - 1.2) * 0.2));
    this.playhead = jumped ? newest - 1 : this.playhead + (ms / 1000) * FRAME_RATE * pace;
    this.playhead = Math.min(newest, Math.max(oldest, this.playhead));
    const index = Math.min(this.poses.length - 1, Math.floor(this.playhead) - oldest);
    const from = this.poses[index], to = this.poses[Math.min(index + 1, this.poses.length - 1)];
    const passed = (pose) => !jumped && pose.tick > this.passed && pose.tick <= to.tick;
    const seen = this.poses.filter(passed).flatMap((pose) => pose.seen);
    this.passed = to.tick;
    return { from, to, part: this.playhead - from.tick, seen, jumped };
  }
}

function poseOf(state, seen) {
  return {
    tick: state.tick, length: state.length, seen,
    pucks: state.pucks.map((puck) => ({ ...puck })), sparks: state.sparks.map((spark) => ({ ...spark })),
  };
}
