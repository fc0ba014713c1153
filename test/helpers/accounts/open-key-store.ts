import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { inject, onTestFinished } from 'vitest';
import { openAccounts, type Accounts } from '#shared/accounts/accounts.ts';
import { connectRedis, type RedisConnection } from '#shared/store/redis/connect-redis.ts';
import type { ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import { useForEach } from '../use-for-each.ts';
import { made } from './made.ts';

/** A key store under a prefix of its own, and every log line of its connection. */
export interface OpenKeyStore {
  store: KeyStore;
  accounts: Accounts;
  connection: RedisConnection;
  redis: Redis;
  prefix: string;
  logLines: string[];
  /** Every record that could not be read, with the reason. */
  unreadable: string[];
  noteUnreadable: ReportUnreadable;
}

/**
 * Connects to a Redis server, by default that of all test files, for the duration of the running test. Does not wait for the connection.
 * @param isPatient whether commands may take long, because this process or Redis may stand still for seconds on a busy machine; default:
 *   those to the server of all test files
 */
export function beginKeyStore(
  url = inject('redisUrl'),
  prefix = `test-${randomUUID()}:`,
  isPatient = url === inject('redisUrl'),
): OpenKeyStore {
  const logLines: string[] = [];
  const connection = connectRedis(url, {
    log: pino({ level: 'trace' }, { write: (line) => void logLines.push(line) }),
    name: 'test',
  });
  onTestFinished(() => connection.close());
  const { redis } = connection;
  if (isPatient) Object.assign(redis.options, { commandTimeout: 30_000, socketTimeout: 30_000 });
  const unreadable: string[] = [];
  const noteUnreadable: ReportUnreadable = (record, reason) => void unreadable.push(`${record}: ${reason}`);
  const accounts = openAccounts(redis, prefix, noteUnreadable);
  return { store: accounts.keys, accounts, connection, redis, prefix, logLines, unreadable, noteUnreadable };
}

/** Does the same as beginKeyStore, and waits until Redis can be used. */
export async function openKeyStore(url?: string, prefix?: string, isPatient?: boolean): Promise<OpenKeyStore> {
  const open = beginKeyStore(url, prefix, isPatient);
  await open.connection.whenReady(AbortSignal.timeout(30_000));
  return open;
}

/** Opens a key store for each test of the calling file or suite. */
export const useKeyStore = (): OpenKeyStore => useForEach(() => openKeyStore());

/** Creates the first administrator, Ada, who has no password. */
export async function makeAdmin({ accounts: { links } }: OpenKeyStore): Promise<UserRecord> {
  const token = (await links.issueFirstAdmin()) ?? '';
  const person = { name: 'Ada', email: 'ada@example.com', passwordHash: '' };
  return made(await links.createFirstAdmin(token, person));
}
