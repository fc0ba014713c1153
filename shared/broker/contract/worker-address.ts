import { tiers, type Tier } from './lane.ts';

/**
 * Owner of everybody who connects without a credential. Whoever has a credential is its owner's, and the broker sees to
 * it that nobody uses another owner's subjects.
 */
export const openOwner = 'open';

/**
 * Who a worker is, by the subjects it may use: three tokens of each of them. Workers that share a credential, as the
 * replicas of one deployment do, have one owner and differ in the last token.
 */
export interface WorkerAddress {
  tier: Tier;
  owner: string;
  worker: string;
}

/** Of how many tokens a worker's address consists. */
const addressLength = 3;

/** The address as tokens of a subject. */
export function addressTokens({ tier, owner, worker }: WorkerAddress): string {
  return `${tier}.${owner}.${worker}`;
}

/** Reads the address that a subject ends with. Undefined for a tier that this release does not know. */
export function addressAtEnd(subject: string): WorkerAddress | undefined {
  const [tier, owner, worker] = subject.split('.').slice(-addressLength);
  const known = tiers.find((name) => name === tier);
  return known && owner !== undefined && worker !== undefined ? { tier: known, owner, worker } : undefined;
}

/** What a worker is called in the whole cluster, by people and in tables: an owner has no dot in it. */
export function workerIdOf({ owner, worker }: WorkerAddress): string {
  return owner === openOwner ? worker : `${owner}.${worker}`;
}
