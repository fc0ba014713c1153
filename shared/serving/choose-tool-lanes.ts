import { freeSlots, type LivePool, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { isServing } from './is-serving.ts';

/** The pools that have a tool right now, those with the most free slots first. The tool stands in the model's place. */
export function chooseToolLanes(tool: string, pools: Iterable<LivePool>, avoid: ReadonlySet<string>): Placement[] {
  return [...pools]
    .filter(({ tier, formats }) => tier === 'tools' && formats.includes('tools'))
    .filter((pool) => isServing(pool, avoid) && pool.tools.some(({ name }) => name === tool))
    .sort((a, b) => freeSlots(b) - freeSlots(a))
    .map((pool) => ({ pool, model: tool }));
}
