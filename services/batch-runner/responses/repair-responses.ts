import type { ResponseWork } from '#shared/accounts/responses/background/response-work.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { createResponseJob } from '#shared/background/response-jobs.ts';
import type { Logger } from '#shared/core/log.ts';

/** Milliseconds between two checks of the unfinished responses. */
const checkIntervalMs = 15_000;

/** Largest number of responses per check, the oldest first. */
const maxAtOnce = 1_000;

export interface ResponseRepairParts {
  responses: Pick<ResponseWork, 'listOpen' | 'sweep'>;
  jobs: Pick<BackgroundJobs, 'add'>;
  log: Pick<Logger, 'debug'>;
}

/**
 * Adds missing jobs of responses that have begun no new run since the last check. Jobs may be missing because a process that stored a
 * request died before it added the job, or because a failover of Redis loses what its replica has not received. An existing job is not
 * added twice. Expired responses are removed.
 */
export class ResponseRepair {
  readonly #parts: ResponseRepairParts;
  readonly #timer: NodeJS.Timeout;
  /** Run id of each response at the last check. */
  #runsAtLastCheck = new Map<string, string>();

  constructor(parts: ResponseRepairParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.check(), checkIntervalMs);
  }

  /** Checks all unfinished responses now. Never rejects. */
  async check(): Promise<void> {
    try {
      const { responses, jobs } = this.#parts;
      await responses.sweep();
      const openResponses = await responses.listOpen(maxAtOnce);
      const previousRuns = this.#runsAtLastCheck;
      this.#runsAtLastCheck = new Map(openResponses.map(({ id, attempt }) => [id, attempt]));
      const counts = new Map<string, number>();
      for (const { id, owner, attempt } of openResponses) {
        const count = (counts.get(owner) ?? 0) + 1;
        counts.set(owner, count);
        if (previousRuns.get(id) === attempt) await jobs.add(createResponseJob(id, count));
      }
    } catch (error) {
      this.#parts.log.debug({ err: error }, 'the responses in the background could not be checked');
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
