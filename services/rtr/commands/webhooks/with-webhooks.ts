import { openAccounts } from '#shared/accounts/accounts.ts';
import { OwnerKeys } from '#shared/accounts/secrets/owner-keys.ts';
import { readClusterSecret } from '#shared/accounts/secrets/read-cluster-secret.ts';
import { createLog } from '#shared/core/log.ts';
import { openWebhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { UpError } from '../../up/up-error.ts';
import { withRedis } from '../with-redis.ts';
import type { WebhookContext } from './webhook-context.ts';

export interface WebhookStoreOptions extends Pick<WebhookContext, 'print' | 'json'> {
  REDIS_URL: string;
  REDIS_CA?: string | undefined;
  SEAL_SECRET?: readonly Buffer[] | undefined;
  prefix: string;
}

/**
 * Runs a command for webhooks with a connection to Redis.
 * @throws UpError when Redis does not answer within five seconds, or a secret is to be sealed and that of the cluster is not known
 */
export function withWebhooks(
  { REDIS_URL, REDIS_CA, SEAL_SECRET, prefix: cluster, print, json }: WebhookStoreOptions,
  command: (context: WebhookContext) => Promise<unknown>,
): Promise<void> {
  const log = createLog({ service: 'rtr', level: 'silent', format: 'json' });
  const prefix = `${cluster}:`;
  return withRedis({ REDIS_URL, REDIS_CA, log }, async (redis) => {
    const secrets = await readClusterSecret(redis, prefix, SEAL_SECRET);
    const ownerKeys = new OwnerKeys(() => secrets);
    const keys: Pick<OwnerKeys, 'webhookSealer'> = {
      webhookSealer: (owner) => {
        const sealer = ownerKeys.webhookSealer(owner);
        if (!sealer)
          throw new UpError(
            'The secret of the cluster is not known here: set SEAL_SECRET as its ingress nodes have it.',
          );
        return sealer;
      },
    };
    await command({
      accounts: openAccounts(redis, prefix),
      webhooks: openWebhooks(redis, prefix, { keys }),
      print,
      json,
    });
  });
}
