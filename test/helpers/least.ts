/**
 * The least of what a few rounds measure, such as milliseconds: a busy machine adds delays that are not the router's. A quiet one needs a
 * single round.
 * @param measure measures once; whatever else has to hold in each round, it expects itself
 * @param enough the bound that is promised: a round that stays below it is the last one
 */
export async function least(measure: () => Promise<number>, enough: number, rounds = 6): Promise<number> {
  let found = Infinity;
  for (let round = 0; round < rounds && found >= enough; round += 1) found = Math.min(found, await measure());
  return found;
}
