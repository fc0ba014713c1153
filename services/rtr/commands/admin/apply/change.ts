import type { AdminClient } from '../admin-client.ts';
import type { Key } from '../../../../console/contract/keys.ts';
import type { User, Settings, Team } from '../../../../console/contract/people.ts';
import type { Price } from '../../../../console/contract/usage.ts';
import type { Difference } from './find-differences.ts';

export interface PresentAccess {
  people: ReadonlyMap<string, User>;
  teams: ReadonlyMap<string, readonly Team[]>;
  keys: readonly Key[];
  prices: ReadonlyMap<string, Price>;
  settings: Settings | undefined;
}

export interface ChangeContext {
  client: AdminClient;
  /** Ids of people by email address. People that a change creates are added. */
  people: Map<string, string>;
  /** Ids of teams by name. Teams that a change creates are added. */
  teams: Map<string, string>;
  /** All prices. They are read before the first price is changed. */
  prices?: Promise<readonly Price[]>;
}

export interface Change {
  does: 'create' | 'change' | 'remove';
  /** The object of the change, such as `team Research` or `key ci of team Research`. */
  what: string;
  fields: readonly Difference[];
  newKey?: { owner: string; name: string };
  /** Makes the change, and returns the secret if it created a key. */
  make: (context: ChangeContext) => Promise<string | undefined>;
}

/** The changes, in the order in which they can be made, and the number of objects that already match the file. */
export interface Plan {
  changes: Change[];
  unchanged: number;
  /** Objects that differ from the file but are not changed, each with the reason, such as `key old of Ada, which would have expired`. */
  left: string[];
}

export const emptyPlan: Plan = { changes: [], unchanged: 0, left: [] };

/** Returns a plan with one change, or without changes if the object already matches the file. */
export function planChange(change: Change): Plan {
  const isNeeded = change.does !== 'change' || change.fields.length > 0;
  return isNeeded ? { ...emptyPlan, changes: [change] } : { ...emptyPlan, unchanged: 1 };
}

export function joinPlans(plans: readonly Plan[]): Plan {
  return {
    changes: plans.flatMap(({ changes }) => changes),
    unchanged: plans.reduce((sum, { unchanged }) => sum + unchanged, 0),
    left: plans.flatMap(({ left }) => left),
  };
}
