import { openAccounts } from '#shared/accounts/accounts.ts';
import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { redisHosts } from '#shared/accounts/redis/redis-options.ts';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { readBrokerAccess, type BrokerAccessSettings } from '#shared/broker/connection/broker-settings.ts';
import { announceKeyChange } from '#shared/broker/contract/change-signals.ts';
import { createLog } from '#shared/core/log.ts';
import { readCertificates } from '#shared/core/load-config.ts';
import { UpError } from '../up/up-error.ts';
import type { KeyCommandContext } from './key-command.ts';

/** Limit of the wait for the broker. The change is already stored. */
const announceTimeoutMs = 2_000;

/** The servers that a command for keys connects to, and how it prints. */
export interface KeyStoreOptions extends BrokerAccessSettings {
  REDIS_URL: string;
  REDIS_CA?: string | undefined;
  prefix: string;
  consoleUrl: string;
  json: boolean;
  print: (line: string) => void;
}

/**
 * Runs a command for keys with a connection to Redis, and one to NATS as soon as it announces something.
 * @throws UpError when Redis does not answer within five seconds
 */
export async function withKeyStore(
  { REDIS_URL, REDIS_CA, prefix, consoleUrl, json, print, ...access }: KeyStoreOptions,
  command: (context: KeyCommandContext) => Promise<unknown>,
): Promise<void> {
  const log = createLog({ service: 'rtr', level: 'silent', format: 'json' });
  const connection = connectRedis(REDIS_URL, { log, name: 'rtr', ca: readCertificates('REDIS_CA', REDIS_CA) });
  try {
    await connection.whenReady(AbortSignal.timeout(5_000)).catch((cause: unknown) => {
      throw new UpError(`Redis does not answer at ${redisHosts(REDIS_URL)}: is the cluster running?`, { cause });
    });
    const announce = async (keyId: string) => {
      const broker = await connectBroker({
        ...readBrokerAccess(access),
        name: 'rtr',
        prefix,
        log,
        waitMs: announceTimeoutMs,
      });
      try {
        await announceKeyChange(broker, keyId);
      } finally {
        await broker.close();
      }
    };
    const accounts = openAccounts(connection.redis, `${prefix}:`);
    await command({ accounts, consoleUrl, announce, print, json });
  } finally {
    connection.close();
  }
}
