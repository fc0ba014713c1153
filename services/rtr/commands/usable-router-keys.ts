import { isUsable, type KeyRecord } from '#shared/accounts/keys/key-record.ts';
import type { KeyStore } from '#shared/accounts/keys/key-store.ts';

/** The router keys that can be used now, oldest first. */
export async function usableRouterKeys(store: KeyStore): Promise<KeyRecord[]> {
  return (await store.list()).filter((key) => key.kind === 'router' && isUsable(key, Date.now()));
}
