// A simple player: for the picture behind the title and for automation (?auto=1). It decides inputs only, so it need
// not be the same anywhere.
import { ARENA, BUMPERS, UNIT } from "./sim.js";

/** Controls for the puck `id` in this state. `mood` is any number, it varies the choice. */
export function decide(state, id, mood = 0) {
  const me = state.pucks.find((puck) => puck.id === id);
  if (!me) return { x: 0, y: 0, dash: false };
  const target = chooseTarget(state, me, mood);
  let [dx, dy] = [target.x - me.x - me.vx * 14, target.y - me.y - me.vy * 14];
  for (const bumper of BUMPERS) {
    const [bx, by] = [me.x - bumper.x * UNIT, me.y - bumper.y * UNIT];
    const apart = Math.hypot(bx, by) / UNIT;
    if (apart < 120) [dx, dy] = [dx + bx * (120 - apart) * 0.05 - by * 0.6, dy + by * (120 - apart) * 0.05 + bx * 0.6];
  }
  const length = Math.hypot(dx, dy) || 1;
  // Eight ways, as from a keyboard: not a new input with every frame.
  const turn = Math.round(Math.atan2(dy, dx) / (Math.PI / 4)) * (Math.PI / 4);
  const [x, y] = length < 8 * UNIT ? [0, 0] : [Math.round(Math.cos(turn) * 127), Math.round(Math.sin(turn) * 127)];
  return { x, y, dash: target.prey === true && length < 190 * UNIT && me.cooldown === 0 };
}

function chooseTarget(state, me, mood) {
  let best = { x: (ARENA / 2) * UNIT, y: (ARENA / 2) * UNIT }, least = Infinity;
  for (const spark of state.sparks) {
    const cost = Math.hypot(spark.x - me.x, spark.y - me.y) / spark.worth;
    if (cost < least) [best, least] = [spark, cost];
  }
  for (const puck of state.pucks) {
    if (puck === me || puck.immune > 0 || puck.score < 2 || me.cooldown > 0) continue;
    const cost = Math.hypot(puck.x - me.x, puck.y - me.y) * (mood % 3 === 0 ? 0.5 : 0.9);
    if (cost < least && cost < 260 * UNIT) [best, least] = [{ x: puck.x, y: puck.y, prey: true }, cost];
  }
  return best;
}
