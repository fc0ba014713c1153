import type { Accounts } from '#shared/accounts/accounts.ts';
import type { RedisConnection } from '#shared/store/redis/connect-redis.ts';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { announceRegistryChange, onRegistryChange } from '#shared/broker/contract/change-signals.ts';
import type { Logger } from '#shared/core/log.ts';
import { followRegistry, type LiveRegistry } from '#shared/registry/follow-registry.ts';
import { followStoredRegistry, type StoredVersion } from '#shared/registry/follow-stored-registry.ts';

export interface OpenRegistryOptions {
  file: string | undefined;
  versions: Pick<Accounts['registryVersions'], 'findNewest' | 'findPrevious' | 'find'>;
  broker: Broker;
  redis: RedisConnection['redis'];
  log: Logger;
}

/** The registry of a process that serves requests, from a file or from the store. */
export interface OpenRegistry extends LiveRegistry {
  source: 'file' | 'store';
  /** The stored version in use; undefined if the registry is a file, and while no version is stored. */
  version(): StoredVersion | undefined;
  /** Makes all processes, including this process, read the newest stored version. */
  announceChange(): Promise<void>;
}

/**
 * Opens the registry: the file, if there is one, otherwise the newest stored version. The opened registry follows later changes.
 * @throws ConfigError if the file is missing or invalid
 */
export async function openRegistry({ file, versions, broker, redis, log }: OpenRegistryOptions): Promise<OpenRegistry> {
  if (file !== undefined) {
    return {
      ...followRegistry(file, log),
      source: 'file',
      version: () => undefined,
      announceChange: () => Promise.resolve(),
    };
  }
  const source = {
    findNewest: () => versions.findNewest(),
    findBefore: (number: number) => versions.findPrevious(number),
    readConfig: async (number: number) => (await versions.find(number))?.config,
  };
  const storedRegistry = await followStoredRegistry(source, log);
  onRegistryChange(broker, () => void storedRegistry.refresh());
  redis.on('ready', () => void storedRegistry.refresh());
  broker.onReconnect(() => void storedRegistry.refresh());
  const announceChange = async (): Promise<void> => {
    await storedRegistry.refresh();
    // The announcement is not awaited, because it never resolves without a broker. The other processes also poll for changes.
    announceRegistryChange(broker).catch((error: unknown) => log.debug({ err: error }, 'a change was not announced'));
  };
  return { ...storedRegistry, source: 'store', announceChange };
}
