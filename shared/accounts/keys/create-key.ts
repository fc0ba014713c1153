import { RouterError } from '#shared/core/errors.ts';
import { FairQueue, QueueFullError } from './fair-queue.ts';
import { hashKeySecret } from './hash-key-secret.ts';
import { permittedClass, type FoundKey, type KeyRecord } from './key-record.ts';
import type { KeyCreation, KeyStore } from './key-store.ts';
import { mintKey } from './mint-key.ts';

/** The settings of a new key. */
export type NewKey = Pick<
  KeyRecord,
  'kind' | 'name' | 'class' | 'ownerId' | 'createdBy' | 'expiresAt' | 'models' | 'tiers' | 'tools' | 'limits' | 'weight'
> &
  Partial<Pick<KeyRecord, 'adminSet' | 'issuedBy'>>;

/** A key that was just made. This is the only moment at which its raw form is known. */
export interface CreatedKey {
  raw: string;
  record: KeyRecord;
}

/** One Argon2 computation at a time, however fast people make keys: this process has keys to verify. */
const queue = new FairQueue({ concurrency: 1, waitingPerOwner: 16, waiting: 64 });

/** Makes a key that belongs to nobody, and stores its record. @throws RouterError `overloaded` when too many are being made */
export async function createKey(store: KeyStore, settings: Omit<NewKey, 'ownerId'>): Promise<CreatedKey> {
  const key = await prepareKey(settings);
  await store.create(key.record);
  return key;
}

/** Makes a key of a person or team, or returns why there is none. Throws as `createKey` does. */
export async function createOwnedKey(
  store: KeyStore,
  settings: NewKey & { ownerId: string },
): Promise<CreatedKey | Exclude<KeyCreation, 'created'>> {
  const key = await prepareKey(settings);
  const outcome = await store.create(key.record);
  return outcome === 'created' ? key : outcome;
}

/**
 * Makes a key with the settings of another one, as far as they are permitted, which expires after `overlapMs`. What both use is counted
 * together. One that is issued has nothing of what the other one has stored. Returns why there is none otherwise (`not usable`: the other
 * one is revoked, expired, replaced or unknown). Throws as `createKey` does.
 */
export async function rotateKey(
  store: KeyStore,
  old: FoundKey,
  { createdBy, issuedBy, overlapMs }: { createdBy: string; issuedBy?: string | undefined; overlapMs: number },
): Promise<CreatedKey | Exclude<Awaited<ReturnType<KeyStore['replace']>>, 'created'>> {
  const { kind, name, ownerId, expiresAt, models, tiers, tools, limits, weight } = old;
  const priority = permittedClass(old);
  const settings = { kind, name, class: priority, ownerId, expiresAt, models, tiers, tools, limits, weight };
  const { raw, record } = await prepareKey({ ...settings, createdBy, issuedBy });
  // The newer of the two is the one that goes on, also within one millisecond.
  const createdAt = Math.max(record.createdAt, old.createdAt + 1);
  const key = { raw, record: { ...record, createdAt, countedAs: old.countedAs ?? old.id } };
  const outcome = await store.replace(
    old.id,
    key.record,
    createdAt + overlapMs,
    priority === old.class ? undefined : priority,
  );
  return outcome === 'created' ? key : outcome;
}

/** Makes the first router key of a cluster; undefined when one was ever made before, here or anywhere else. */
export async function createFirstRouterKey(store: KeyStore): Promise<CreatedKey | undefined> {
  if (await store.hasHadRouterKey()) return undefined;
  const key = await prepareKey({ kind: 'router', name: 'first key', class: 'normal' });
  return (await store.createFirstRouterKey(key.record)) ? key : undefined;
}

async function prepareKey(settings: NewKey): Promise<CreatedKey> {
  const { raw, id, secret } = mintKey(settings.kind);
  const record = {
    ...settings,
    id,
    hash: await hashInTurn(settings.createdBy ?? 'the command line', secret),
    firstFour: secret.slice(0, 4),
    lastFour: secret.slice(-4),
    createdAt: Date.now(),
    ...(settings.issuedBy !== undefined && { storesAs: id }),
  };
  return { raw, record };
}

async function hashInTurn(maker: string, secret: string): Promise<string> {
  try {
    return await queue.run(maker, () => hashKeySecret(secret));
  } catch (error) {
    if (!(error instanceof QueueFullError)) throw error;
    const message = 'Too many keys are being made. Please try again soon.';
    throw new RouterError('overloaded', message, { retryAfter: 2, cause: error });
  }
}
