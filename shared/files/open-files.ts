import type { FileBounds, FileRecords } from '#shared/accounts/files/file-records.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import { readS3Credentials, type FileSettings } from './file-settings.ts';
import { Files } from './files.ts';
import type { ObjectStore } from './object-store.ts';
import { SealedObjectStore } from './sealed-object-store.ts';

const dayMs = 24 * 3_600_000;

/** Maximum lines of a file for a batch, as at OpenAI. */
const maxFileLines = 50_000;

export interface OpenFilesOptions {
  settings: FileSettings;
  /** Start of the names of objects in S3, before a slash. */
  prefix: string;
  openRecords: (bounds: FileBounds) => FileRecords;
  /** The store of a cluster without S3; undefined if the settings name a bucket. */
  objects: ObjectStore | undefined;
  /** Secrets that the operator has set, 32 bytes each. The first one seals, all of them open. Undefined: content is not sealed. */
  secrets: readonly Uint8Array[] | undefined;
  log: Logger;
}

export interface OpenedFiles {
  files: Files;
  objects: ObjectStore;
}

/** Opens the files of a cluster: records in Redis, content in JetStream or S3, sealed if the operator has set a secret. */
export async function openFiles(options: OpenFilesOptions): Promise<OpenedFiles> {
  const { settings, openRecords, secrets = [], log } = options;
  const { FILES_OWNER_BYTES: ownerBytes, FILES_MAX_BYTES: totalBytes, FILES_KEEP_DAYS: days } = settings;
  const [newest, ...older] = secrets;
  const store = await openStore(options);
  const objects = newest ? new SealedObjectStore(store, [newest, ...older]) : store;
  const files = new Files({
    records: openRecords({ ownerBytes, totalBytes }),
    store: objects,
    fileBytes: settings.FILE_MAX_BYTES,
    fileLines: maxFileLines,
    keepMs: days === undefined ? undefined : days * dayMs,
    log,
  });
  return { files, objects };
}

/** @throws ConfigError for settings that do not belong together */
async function openStore({ settings, prefix, objects }: OpenFilesOptions): Promise<ObjectStore> {
  const { FILES_S3_BUCKET: bucket, FILES_S3_REGION: region, FILES_S3_ENDPOINT: endpoint } = settings;
  if (objects) return objects;
  if (bucket === undefined)
    throw new ConfigError('FILES_S3_BUCKET must name a bucket, because there is no store for files in NATS');
  // The S3 client is loaded on demand, because loading it takes a tenth of the time in which a process starts.
  const { S3ObjectStore } = await import('./s3-object-store.ts');
  const folder = `${prefix}/`;
  return new S3ObjectStore({ bucket, folder, region, endpoint, credentials: readS3Credentials(settings) });
}
