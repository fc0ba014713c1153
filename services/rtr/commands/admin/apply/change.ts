import type { AdminClient } from '../admin-client.ts';
import type { Key, Person, Price, Settings, Team } from '../admin-answers.ts';
import type { Difference } from './differences.ts';

/** What is there, as far as a file may name it. */
export interface Present {
  /** By address. */
  people: ReadonlyMap<string, Person>;
  /** By name. */
  teams: ReadonlyMap<string, readonly Team[]>;
  keys: readonly Key[];
  /** By model. */
  prices: ReadonlyMap<string, Price>;
  settings: Settings | undefined;
}

/** What changes are made with. */
export interface Maker {
  client: AdminClient;
  /** Ids of people by address, and of teams by name, those that were just made included. */
  people: Map<string, string>;
  teams: Map<string, string>;
  /** All prices, read when the first of them is changed. */
  prices?: Promise<readonly Price[]>;
}

/** One change that a file asks for. */
export interface Change {
  does: 'create' | 'change' | 'remove';
  /** As `team Research`, `key ci of team Research`. */
  what: string;
  fields: readonly Difference[];
  /** The owner and the name of a key that is created. */
  newKey?: { owner: string; name: string };
  /** Makes it so, and returns the secret of a key that was created. */
  make: (maker: Maker) => Promise<string | undefined>;
}

/** The changes, in the order in which they can be made, and how many things are as the file says. */
export interface Plan {
  changes: Change[];
  unchanged: number;
  /** What is not as the file says and stays so, with the reason, as `key old of Ada: it would have expired`. */
  left: string[];
}

export const nothingPlanned: Plan = { changes: [], unchanged: 0, left: [] };

/** The plan for one thing: a change, or none where nothing differs. */
export function planOf(change: Change): Plan {
  const isNeeded = change.does !== 'change' || change.fields.length > 0;
  return isNeeded ? { ...nothingPlanned, changes: [change] } : { ...nothingPlanned, unchanged: 1 };
}

/** Plans after one another. */
export function joined(plans: readonly Plan[]): Plan {
  return {
    changes: plans.flatMap(({ changes }) => changes),
    unchanged: plans.reduce((sum, { unchanged }) => sum + unchanged, 0),
    left: plans.flatMap(({ left }) => left),
  };
}
