import { ExternalAccounts } from '#shared/accounts/sign-in/external-accounts/external-accounts.ts';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import type { OpenKeyStore } from './open-key-store.ts';

/** Opens the accounts at providers of a store, as a node with these secrets does. */
export function openExternals(
  { connection, prefix, unreadable }: Pick<OpenKeyStore, 'connection' | 'prefix' | 'unreadable'>,
  secrets: readonly Uint8Array[] = [Buffer.alloc(32)],
): ExternalAccounts {
  const report = (record: string): void => void unreadable.push(record);
  return new ExternalAccounts(connection.redis, prefix, { keys: new OwnerKeys(() => secrets), report });
}
