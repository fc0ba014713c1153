import type { ResponseWork } from '#shared/accounts/background-responses/response-work.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { createResponseJob } from '#shared/background/response-jobs.ts';
import type { Logger } from '#shared/core/log.ts';

/** Milliseconds between two checks of the unfinished responses. */
const lookMs = 15_000;

/** Largest number of responses per check, the oldest first. */
const maxAtOnce = 1_000;

export interface ResponseRepairParts {
  work: Pick<ResponseWork, 'listOpen' | 'sweep'>;
  jobs: Pick<BackgroundJobs, 'add'>;
  log: Pick<Logger, 'debug'>;
}

/**
 * Adds missing jobs of unfinished responses. Jobs may be missing because a process that stored a request died before it added the job, or
 * because a failover of Redis loses what its replica has not received. An existing job is not added twice. Expired responses are removed.
 */
export class ResponseRepair {
  readonly #parts: ResponseRepairParts;
  readonly #timer: NodeJS.Timeout;
  /** Run id of each response at the last check. */
  #before = new Map<string, string>();

  constructor(parts: ResponseRepairParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.look(), lookMs);
  }

  /** Checks all unfinished responses now. Never rejects. */
  async look(): Promise<void> {
    try {
      const { work, jobs } = this.#parts;
      await work.sweep();
      const open = await work.listOpen(maxAtOnce);
      const before = this.#before;
      this.#before = new Map(open.map(({ id, attempt }) => [id, attempt]));
      const counts = new Map<string, number>();
      for (const { id, owner, attempt } of open) {
        const count = (counts.get(owner) ?? 0) + 1;
        counts.set(owner, count);
        if (before.get(id) === attempt) await jobs.add(createResponseJob(id, count));
      }
    } catch (error) {
      this.#parts.log.debug({ err: error }, 'the responses in the background could not be looked at');
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
