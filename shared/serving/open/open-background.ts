import type { BackgroundResponsesDependencies } from '#shared/accounts/responses/background/background-responses.ts';
import { toBackgroundBounds } from '#shared/accounts/responses/background/background-settings.ts';
import { AnswerChanges } from '#shared/store/answer-journal/answer-changes.ts';
import { connectRedis } from '#shared/store/redis/connect-redis.ts';
import { readCertificates } from '#shared/core/load-config.ts';
import type { ServingResources, OpenServingOptions } from './open-serving.ts';
import type { ServingConfig } from './serving-settings.ts';

export interface OpenBackgroundOptions extends Omit<OpenServingOptions, 'config' | 'role' | 'id'> {
  config: ServingConfig & Parameters<typeof toBackgroundBounds>[0];
  serving: Pick<ServingResources, 'ownerKeys' | 'reportUnreadable'>;
}

/**
 * Opens the dependencies of background responses: the limits of their store, and a separate Redis connection for the changes of responses.
 */
export function openBackground(options: OpenBackgroundOptions): {
  store: BackgroundResponsesDependencies;
  changes: AnswerChanges;
} {
  const { config, serving, name, log, releases } = options;
  const connection = connectRedis(config.REDIS_URL, {
    log: log.child({ connection: 'changes of responses' }),
    name: `${name}-changes`,
    ca: readCertificates('REDIS_CA', config.REDIS_CA),
  });
  releases.add('redis for changes', () => connection.close());
  const { ownerKeys: keys, reportUnreadable: report } = serving;
  return {
    store: { bounds: toBackgroundBounds(config), keys, report },
    changes: new AnswerChanges(connection.redis, `${config.RTR_PREFIX}:`),
  };
}
