import { RouterError } from '#shared/core/errors.ts';
import { FairQueue, QueueFullError } from '#shared/core/fair-queue.ts';
import { hashKeySecret } from './parse-key.ts';
import { firstKeyName } from './key-format.ts';
import { findPermittedClass, type FoundKey, type KeyRecord } from './key-record.ts';
import type { KeyCreation, KeyStore } from './key-store.ts';
import { generateKey } from './generate-key.ts';

export type NewKey = Pick<
  KeyRecord,
  'kind' | 'name' | 'class' | 'ownerId' | 'createdBy' | 'expiresAt' | 'models' | 'tiers' | 'tools' | 'limits' | 'weight'
> &
  Partial<Pick<KeyRecord, 'adminSet' | 'issuedBy'>>;

/** A new key. Its raw form is known only now, because the store keeps a hash. */
export interface CreatedKey {
  rawKey: string;
  record: KeyRecord;
}

/** Runs one Argon2 computation at a time, however many keys are made, because this process must also verify keys. */
const hashQueue = new FairQueue({ concurrency: 1, waitingPerOwner: 16, waiting: 64 });

/**
 * Creates a key without an owner, and stores its record.
 * @throws RouterError `overloaded` when too many keys are being made
 */
export async function createKey(store: KeyStore, settings: Omit<NewKey, 'ownerId'>): Promise<CreatedKey> {
  const key = await prepareKey(settings);
  await store.create(key.record);
  return key;
}

/** Creates a key of a person or team, or returns why it was not created. Throws the errors of `createKey`. */
export async function createOwnedKey(
  store: KeyStore,
  settings: NewKey & { ownerId: string },
): Promise<CreatedKey | Exclude<KeyCreation, 'created'>> {
  const key = await prepareKey(settings);
  const outcome = await store.create(key.record);
  return outcome === 'created' ? key : outcome;
}

/**
 * Replaces a key by a new one with the old key's permitted settings. The old key expires after `overlapMs`. The use of both keys counts
 * together. If an administrator issues the new key, the new key cannot read what the old key has stored. Throws the errors of `createKey`.
 * @returns the new key, or why none was created; `not usable` if the old key is revoked, expired, replaced or unknown
 */
export async function rotateKey(
  store: KeyStore,
  old: FoundKey,
  { createdBy, issuedBy, overlapMs }: { createdBy: string; issuedBy?: string | undefined; overlapMs: number },
): Promise<CreatedKey | Exclude<Awaited<ReturnType<KeyStore['replace']>>, 'created'>> {
  const { kind, name, ownerId, expiresAt, models, tiers, tools, limits, weight } = old;
  const priority = findPermittedClass(old);
  const settings = { kind, name, class: priority, ownerId, expiresAt, models, tiers, tools, limits, weight };
  const { rawKey, record } = await prepareKey({ ...settings, createdBy, issuedBy });
  // Of all usable keys that count together, the newest key represents the others. So the new key must be newer, even within one
  // millisecond.
  const createdAt = Math.max(record.createdAt, old.createdAt + 1);
  const key = { rawKey, record: { ...record, createdAt, countedAs: old.countedAs ?? old.id } };
  const outcome = await store.replace(
    old.id,
    key.record,
    createdAt + overlapMs,
    priority === old.class ? undefined : priority,
  );
  return outcome === 'created' ? key : outcome;
}

/** Creates the first router key of a cluster. Returns undefined if a router key was ever made before. */
export async function createFirstRouterKey(store: KeyStore): Promise<CreatedKey | undefined> {
  if (await store.hasHadRouterKey()) return undefined;
  const key = await prepareKey({ kind: 'router', name: firstKeyName, class: 'normal' });
  return (await store.createFirstRouterKey(key.record)) ? key : undefined;
}

async function prepareKey(settings: NewKey): Promise<CreatedKey> {
  const { rawKey, start, id, secret } = generateKey(settings.kind);
  const record = {
    ...settings,
    id,
    hash: await hashInQueue(settings.createdBy ?? 'the command line', secret),
    start,
    firstFour: secret.slice(0, 4),
    lastFour: secret.slice(-4),
    createdAt: Date.now(),
    ...(settings.issuedBy !== undefined && { storesAs: id }),
  };
  return { rawKey, record };
}

async function hashInQueue(creator: string, secret: string): Promise<string> {
  try {
    return await hashQueue.run(creator, () => hashKeySecret(secret));
  } catch (error) {
    if (!(error instanceof QueueFullError)) throw error;
    const message = 'Too many keys are being made. Please try again soon.';
    throw new RouterError('overloaded', message, { retryAfter: 2, cause: error });
  }
}
