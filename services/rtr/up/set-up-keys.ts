import { connectRedis } from '#shared/accounts/connect-redis.ts';
import { maskedKey } from '#shared/accounts/key-record.ts';
import { KeyStore } from '#shared/accounts/key-store.ts';
import { createLog } from '#shared/core/log.ts';
import { setup } from '../commands/setup.ts';
import { UpError } from './up-error.ts';

/** The keys of a cluster, as its start shows them. */
export interface ClusterKeys {
  /** The raw first router key, when this call made it. */
  newKey: string | undefined;
  /** The usable router keys in their recognisable short form, oldest first. */
  maskedKeys: string[];
}

/**
 * Does what `rtr setup` does, quietly.
 * @throws UpError when Redis does not answer within five seconds
 */
export async function setUpKeys(redisUrl: string, prefix: string): Promise<ClusterKeys> {
  const log = createLog({ service: 'rtr', level: 'silent', format: 'json' });
  const connection = connectRedis(redisUrl, { log, name: 'rtr-setup' });
  try {
    await connection.whenReady(AbortSignal.timeout(5_000)).catch((cause: unknown) => {
      throw new UpError(`Redis does not answer at ${new URL(redisUrl).host}.`, { cause });
    });
    const { created, usable } = await setup({
      store: new KeyStore(connection.redis, `${prefix}:`),
      // Before the first start nobody knows of any key, so nobody need be told.
      announce: async () => {},
      print: () => {},
      json: false,
    });
    return { newKey: created?.raw, maskedKeys: usable.map(maskedKey) };
  } finally {
    connection.close();
  }
}
