import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';

export { priorityClasses, tiers, type PriorityClass, type Tier };

/** One queue of the broker: the requests of one class that wait for one pool of interchangeable workers. */
export interface Lane {
  tier: Tier;
  pool: string;
  class: PriorityClass;
}
