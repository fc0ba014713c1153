import { tiers, type Tier } from '#shared/core/tier.ts';

/**
 * Takes the place of a credential's name for workers that connect without a credential. The broker lets no worker use subjects with the
 * name of another credential.
 */
export const openCredentialName = 'open';

/**
 * A worker's identity in the subjects that it may use: three tokens of each subject. Workers that share a credential, such as the replicas
 * of one deployment, differ only in the last token.
 */
export interface WorkerAddress {
  tier: Tier;
  credentialName: string;
  worker: string;
}

/** The pattern of the name of a credential or worker. NATS refuses subjects with longer names. */
const tokenPattern = /^[\w-]{1,64}$/;

const addressLength = 3;

export function formatAddress({ tier, credentialName, worker }: WorkerAddress): string {
  return `${tier}.${credentialName}.${worker}`;
}

/** Reads the address at the end of a subject; undefined if there is none, or this release does not know its tier. */
export function parseWorkerAddress(subject: string): WorkerAddress | undefined {
  const [tier, credentialName, worker] = subject.split('.').slice(-addressLength);
  const known = tiers.find((name) => name === tier);
  if (!known || credentialName === undefined || worker === undefined) return undefined;
  return tokenPattern.test(credentialName) && tokenPattern.test(worker)
    ? { tier: known, credentialName, worker }
    : undefined;
}

/** Returns the worker's name in the whole cluster, for people and for tables. It is unique, because a credential's name contains no dot. */
export function formatWorkerId({ credentialName, worker }: WorkerAddress): string {
  return credentialName === openCredentialName ? worker : `${credentialName}.${worker}`;
}
