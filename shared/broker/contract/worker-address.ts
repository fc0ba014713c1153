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

/** An owner or worker in an address, as credentials and announcements have it. A longer one would make subjects that NATS refuses. */
const tokenPattern = /^[\w-]{1,64}$/;

/** Tokens of an address. */
const addressLength = 3;

/** The address as tokens of a subject. */
export function addressTokens({ tier, owner, worker }: WorkerAddress): string {
  return `${tier}.${owner}.${worker}`;
}

/** Reads the address that a subject ends with. Undefined for a tier that this release does not know, and for what no worker is named. */
export function addressAtEnd(subject: string): WorkerAddress | undefined {
  const [tier, owner, worker] = subject.split('.').slice(-addressLength);
  const known = tiers.find((name) => name === tier);
  if (!known || owner === undefined || worker === undefined) return undefined;
  return tokenPattern.test(owner) && tokenPattern.test(worker) ? { tier: known, owner, worker } : undefined;
}

/** A worker's name in the whole cluster, for people and in tables. Unique, because an owner has no dot in it. */
export function workerIdOf({ owner, worker }: WorkerAddress): string {
  return owner === openOwner ? worker : `${owner}.${worker}`;
}
