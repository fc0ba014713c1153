import { FileRecords } from '#shared/accounts/files/file-records.ts';
import type { RedisConnection } from '#shared/store/redis/connect-redis.ts';
import type { ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { readBrokerAccess } from '#shared/broker/connection/broker-settings.ts';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { JetStreamObjects } from '#shared/broker/objects/jetstream-objects.ts';
import { FileSweep } from '#shared/files/file-sweep.ts';
import { openFiles, type OpenedFiles } from '#shared/files/open-files.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Releases } from '#shared/core/release.ts';
import type { ServingConfig } from './serving-settings.ts';

export interface OpenServingFilesOptions {
  config: ServingConfig;
  /** The name that servers show for the connections of this process. */
  name: string;
  log: Logger;
  releases: Releases;
}

/**
 * Opens the files of the cluster, and starts their sweep.
 * @throws the errors of `connectBroker`
 */
export async function openServingFiles(
  { config, name, log, releases }: OpenServingFilesOptions,
  { redis }: RedisConnection,
  report: ReportUnreadable,
): Promise<OpenedFiles> {
  const { RTR_PREFIX: prefix } = config;
  const openedFiles = await openFiles({
    settings: config,
    prefix,
    openRecords: (bounds) => new FileRecords(redis, `${prefix}:`, { bounds, report }),
    objects: config.FILES_S3_BUCKET === undefined ? await openObjects() : undefined,
    secrets: config.SEAL_SECRET,
    log,
  });
  const sweep = new FileSweep(openedFiles.files, log);
  releases.add('file sweep', () => sweep.close());
  return openedFiles;

  /** Opens objects on a separate connection. A file may have hundreds of megabytes, and jobs must not wait for it. */
  async function openObjects(): Promise<JetStreamObjects> {
    const broker = await connectBroker({ ...readBrokerAccess(config), name: `${name}-files`, prefix, log });
    releases.add('broker for files', () => broker.close());
    return new JetStreamObjects(broker, config.FILES_MAX_BYTES, log);
  }
}
