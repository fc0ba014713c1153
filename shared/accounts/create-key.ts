import type { PriorityClass } from '#shared/core/priority-class.ts';
import { hashSecret } from './hash-secret.ts';
import type { KeyKind } from './key-format.ts';
import type { KeyRecord } from './key-record.ts';
import type { KeyStore } from './key-store.ts';
import { mintKey } from './mint-key.ts';

/** What the maker of a key decides. */
export interface KeyWish {
  kind: KeyKind;
  name: string;
  class: PriorityClass;
}

/** A key that was just made. This is the only moment at which its raw form is known. */
export interface CreatedKey {
  raw: string;
  record: KeyRecord;
}

/** Makes a key and stores its record. */
export async function createKey(store: KeyStore, wish: KeyWish): Promise<CreatedKey> {
  const key = await prepareKey(wish);
  await store.create(key.record);
  return key;
}

/** Makes the first router key of a cluster; undefined when one was ever made before, here or anywhere else. */
export async function createFirstRouterKey(store: KeyStore): Promise<CreatedKey | undefined> {
  if (await store.hasHadRouterKey()) return undefined;
  const key = await prepareKey({ kind: 'router', name: 'first key', class: 'normal' });
  return (await store.createFirstRouterKey(key.record)) ? key : undefined;
}

async function prepareKey(wish: KeyWish): Promise<CreatedKey> {
  const { raw, id, secret } = mintKey(wish.kind);
  const record = {
    ...wish,
    id,
    hash: await hashSecret(secret),
    firstFour: secret.slice(0, 4),
    lastFour: secret.slice(-4),
    createdAt: Date.now(),
  };
  return { raw, record };
}
