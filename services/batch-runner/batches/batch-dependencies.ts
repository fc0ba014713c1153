import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Files } from '#shared/files/files.ts';
import type { ObjectStore } from '#shared/files/object-store.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { HeavyWork } from '../heavy-work.ts';

export interface BatchDependencies {
  batches: BatchWork;
  jobs: BackgroundJobs;
  objects: Pick<ObjectStore, 'get'>;
  files: Pick<Files, 'receive' | 'delete' | 'removeReleased' | 'assertRoom'>;
  /** Client formats that the lines of a batch may use. */
  formats: readonly ClientFormat[];
  /** Returns whether a worker serves a model, or has served it since this process began. */
  isKnownModel: (model: string | undefined) => boolean;
  /** Milliseconds for which files with results are kept, unless the batch sets another time. */
  resultsKeptMs: number;
  /** Largest line of a batch in bytes, checked during validation. */
  maxLineBytes: number;
  heavyWork: Pick<HeavyWork, 'createTask'>;
  log: Logger;
}
