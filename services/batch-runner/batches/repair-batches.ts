import type { BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import { endingJob, sliceJob, validationJob } from '#shared/background/batch-jobs.ts';
import type { BatchParts } from './batch-parts.ts';

/** Milliseconds between two looks at all batches that are not over. */
const lookMs = 15_000;

/**
 * Adds the jobs again that batches need and that the queues do not have: whoever created a batch may have died before adding its
 * first job, and a failover of Redis loses what its replica has not received. A job that is there is not added twice.
 */
export class BatchRepair {
  readonly #parts: BatchParts;
  readonly #timer: NodeJS.Timeout;
  /** What each batch had left at the last look. */
  #before = new Map<string, string>();
  #looking: Promise<void> | undefined;

  constructor(parts: BatchParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.look(), lookMs);
  }

  /** Looks at all batches now. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#parts.log.debug({ err: error }, 'the batches could not be looked at'))
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const batches = await this.#parts.work.open();
    const before = this.#before;
    this.#before = new Map(batches.map((batch) => [batch.id, progressOf(batch)]));
    for (const batch of batches) if (before.get(batch.id) === progressOf(batch)) await this.#addMissing(batch);
  }

  async #addMissing({ id, state, slices, slicesLeft, ofOwner }: BatchRecord): Promise<void> {
    const { work, jobs } = this.#parts;
    if (state === 'validating') return jobs.add(validationJob(id));
    if (state !== 'running' || slicesLeft === 0) {
      // The one that was added with the slices may wait for some that are lost. While it joins files, they are not joined twice.
      if (!(await jobs.isUnderWay(endingJob(id)))) await jobs.add(endingJob(id, true));
      return;
    }
    const done = await work.doneSlices(id);
    for (let slice = 0; slice < slices; slice += 1) if (!done.has(slice)) await jobs.add(sliceJob(id, slice, ofOwner));
  }
}

/** Whatever changes while a batch is worked on. */
function progressOf({ state, slicesLeft, succeeded, errored }: BatchRecord): string {
  return [state, slicesLeft, succeeded, errored].join(' ');
}
