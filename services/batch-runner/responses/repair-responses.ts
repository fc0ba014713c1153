import type { ResponseWork } from '#shared/accounts/background-responses/response-work.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { responseJob } from '#shared/background/response-jobs.ts';
import type { Logger } from '#shared/core/log.ts';

/** Milliseconds between two looks at the responses that are not over. */
const lookMs = 15_000;

/** The oldest ones are looked at. */
const mostAtOnce = 1_000;

export interface ResponseRepairParts {
  work: Pick<ResponseWork, 'open' | 'sweep'>;
  jobs: Pick<BackgroundJobs, 'add'>;
  log: Pick<Logger, 'debug'>;
}

/**
 * Adds the jobs again of responses that are not over and that the queue may not have: whoever asked for one may have died before adding
 * its job, and a failover of Redis loses what its replica has not received. A job that is there is not added twice. Those that have
 * expired are removed.
 */
export class ResponseRepair {
  readonly #parts: ResponseRepairParts;
  readonly #timer: NodeJS.Timeout;
  /** The attempt of each response at the last look. */
  #before = new Map<string, string>();

  constructor(parts: ResponseRepairParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.look(), lookMs);
  }

  /** Looks at them now. Never rejects. */
  async look(): Promise<void> {
    try {
      const { work, jobs } = this.#parts;
      await work.sweep();
      const open = await work.open(mostAtOnce);
      const before = this.#before;
      this.#before = new Map(open.map(({ id, attempt }) => [id, attempt]));
      const counts = new Map<string, number>();
      for (const { id, owner, attempt } of open) {
        const count = (counts.get(owner) ?? 0) + 1;
        counts.set(owner, count);
        if (before.get(id) === attempt) await jobs.add(responseJob(id, count));
      }
    } catch (error) {
      this.#parts.log.debug({ err: error }, 'the responses in the background could not be looked at');
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
