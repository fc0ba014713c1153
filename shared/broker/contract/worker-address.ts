import { tiers, type Tier } from '#shared/core/tier.ts';

/**
 * Takes the place of a credential's name for workers that connect without a credential. The broker does not let a worker use subjects with
 * the name of another credential.
 */
export const openCredentialName = 'open';

/**
 * A worker's identity in the subjects that it may use: four tokens of each subject. Workers that share a credential, such as the replicas
 * of one deployment, differ in the last two tokens.
 */
export interface WorkerAddress {
  tier: Tier;
  credentialName: string;
  worker: string;
  /**
   * The process: the public key of the NATS user that it has signed with a shared credential, or else a random token. The broker does not
   * let a process with a shared credential use the key of another process.
   */
  process: string;
}

/** The pattern of each token but the tier. NATS refuses subjects with longer names. */
const tokenPattern = /^[\w-]{1,64}$/;

const addressLength = 4;

export function formatAddress({ tier, credentialName, worker, process }: WorkerAddress): string {
  return `${tier}.${credentialName}.${worker}.${process}`;
}

/** Reads the address at the end of a subject; undefined if there is none, or this release does not know its tier. */
export function parseWorkerAddress(subject: string): WorkerAddress | undefined {
  const [tier, ...tokens] = subject.split('.').slice(-addressLength);
  const knownTier = tiers.find((name) => name === tier);
  const [credentialName, worker, process] = tokens;
  if (!knownTier || credentialName === undefined || worker === undefined || process === undefined) return undefined;
  return tokens.every((token) => tokenPattern.test(token))
    ? { tier: knownTier, credentialName, worker, process }
    : undefined;
}

/** Formats the worker's name in the whole cluster, for people and for tables. It is unique, because a credential's name contains no dot. */
export function formatWorkerId({ credentialName, worker }: Pick<WorkerAddress, 'credentialName' | 'worker'>): string {
  return credentialName === openCredentialName ? worker : `${credentialName}.${worker}`;
}
