import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Files } from '#shared/files/files.ts';
import type { ObjectStore } from '#shared/files/object-store.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { HeavyWork } from '../heavy-work.ts';

/** What all work on batches needs. */
export interface BatchParts {
  work: BatchWork;
  jobs: BackgroundJobs;
  objects: Pick<ObjectStore, 'get'>;
  files: Pick<Files, 'receive' | 'remove' | 'removeReleased' | 'assertRoom'>;
  /** The client formats whose requests lines may be. */
  formats: readonly ClientFormat[];
  /** Whether a worker serves a model, or has served it since this process began. */
  isKnownModel: (model: string | undefined) => boolean;
  /** Milliseconds for which files with results are kept, unless a batch says otherwise. */
  resultsKeptMs: number;
  /** Bytes of one line at most, of a batch that is validated. */
  maxLineBytes: number;
  heavy: Pick<HeavyWork, 'open'>;
  log: Logger;
}
