import { openAccounts } from '#shared/accounts/accounts.ts';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { readBrokerAccess, type BrokerAccessSettings } from '#shared/broker/connection/broker-settings.ts';
import { announceKeyChange } from '#shared/broker/contract/change-signals.ts';
import { createLog } from '#shared/core/log.ts';
import type { KeyCommandContext } from './key-command.ts';
import { withRedis } from './with-redis.ts';

/** Maximum milliseconds to wait for the broker. A short wait is enough, because the change is already stored. */
const announceTimeoutMs = 2_000;

/** The servers to which a command for keys connects, and how it prints. */
export interface KeyStoreOptions extends BrokerAccessSettings {
  REDIS_URL: string;
  REDIS_CA?: string | undefined;
  prefix: string;
  consoleUrl: string;
  json: boolean;
  print: (line: string) => void;
}

/**
 * Runs a command for keys with a connection to Redis. Connects to NATS only if the command notifies the ingresses of a change.
 * @throws UpError if Redis does not answer within five seconds
 */
export async function withKeyStore(
  { REDIS_URL, REDIS_CA, prefix, consoleUrl, json, print, ...access }: KeyStoreOptions,
  command: (context: KeyCommandContext) => Promise<unknown>,
): Promise<void> {
  const log = createLog({ service: 'rtr', level: 'silent', format: 'json' });
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
  await withRedis({ REDIS_URL, REDIS_CA, log }, (redis) =>
    command({ accounts: openAccounts(redis, `${prefix}:`), consoleUrl, announce, print, json }),
  );
}
