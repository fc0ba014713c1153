import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';

/** The kinds of workers, in the order in which `auto` tries them. */
export const tiers = ['gpu', 'cli', 'cloud', 'tools'] as const;
export type Tier = (typeof tiers)[number];

export { priorityClasses, type PriorityClass };

/** One queue of the broker: the requests of one class that wait for one pool of interchangeable workers. */
export interface Lane {
  tier: Tier;
  pool: string;
  class: PriorityClass;
}
