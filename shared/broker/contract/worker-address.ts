import { tiers, type Tier } from '#shared/core/tier.ts';

/**
 * The owner of workers that connect without a credential. A worker with a credential belongs to the credential's owner, and the broker
 * lets no worker use another owner's subjects.
 */
export const openOwner = 'open';

/**
 * A worker's identity in the subjects that it may use: three tokens of each subject. Workers that share a credential, such as the
 * replicas of one deployment, have one owner and differ in the last token.
 */
export interface WorkerAddress {
  tier: Tier;
  owner: string;
  worker: string;
}

/** The pattern for the name of an owner or worker in credentials and announcements. NATS refuses subjects with longer names. */
const tokenPattern = /^[\w-]{1,64}$/;

const addressLength = 3;

export function addressTokens({ tier, owner, worker }: WorkerAddress): string {
  return `${tier}.${owner}.${worker}`;
}

/** Reads the address at the end of a subject; undefined for a tier that this release does not know. */
export function parseWorkerAddress(subject: string): WorkerAddress | undefined {
  const [tier, owner, worker] = subject.split('.').slice(-addressLength);
  const known = tiers.find((name) => name === tier);
  if (!known || owner === undefined || worker === undefined) return undefined;
  return tokenPattern.test(owner) && tokenPattern.test(worker) ? { tier: known, owner, worker } : undefined;
}

/** Returns the worker's name in the whole cluster, for people and for tables. It is unique because an owner contains no dot. */
export function formatWorkerId({ owner, worker }: WorkerAddress): string {
  return owner === openOwner ? worker : `${owner}.${worker}`;
}
