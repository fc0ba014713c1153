/**
 * Returns the minimum of a few rounds of a measurement, such as milliseconds: a busy machine adds delays that are not the router's. A quiet
 * machine needs a single round.
 * @param measure measures once; it checks the other expectations of a round itself
 * @param enough the promised bound: a round below it is the last one
 */
export async function least(measure: () => Promise<number>, enough: number, rounds = 6): Promise<number> {
  let found = Infinity;
  for (let round = 0; round < rounds && found >= enough; round += 1) found = Math.min(found, await measure());
  return found;
}
