import { tiers, type Tier } from '#shared/core/tier.ts';

/**
 * The owner of workers that connect without a credential. A worker with a credential belongs to the credential's owner, and
 * the broker lets nobody use another owner's subjects.
 */
export const openOwner = 'open';

/**
 * A worker's identity in the subjects that it may use: three tokens of each of them. Workers that share a credential, as the
 * replicas of one deployment do, have one owner and differ in the last token.
 */
export interface WorkerAddress {
  tier: Tier;
  owner: string;
  worker: string;
}

/** Tokens of an address. */
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

/** A worker's name in the whole cluster, for people and in tables. Unique, because an owner has no dot in it. */
export function workerIdOf({ owner, worker }: WorkerAddress): string {
  return owner === openOwner ? worker : `${owner}.${worker}`;
}
