import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { RunningRequest } from '../run-job.ts';

export interface TokenRetryOptions {
  again: (sink: JobSink) => Promise<RunningRequest | undefined>;
  /** Builds the error of a call whose second token is refused, too. */
  finalError: () => RouterError;
}

/**
 * Makes a call whose token the server may refuse. A refused call has done nothing, so it is repeated once, with another token, before
 * the caller gets anything.
 * States: first → over, or first → second → over.
 */
export class TokenRetry {
  readonly #sink: JobSink;
  readonly #options: TokenRetryOptions;
  #isRefused = false;

  constructor(sink: JobSink, options: TokenRetryOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  get first(): JobSink {
    return withFailure(this.#sink, (error) => {
      if (error.code === 'connection_required') this.#isRefused = true;
      else this.#sink.fail(error);
    });
  }

  /** Follows the first call, and the second one if there is one. */
  follow(first: RunningRequest | undefined): RunningRequest | undefined {
    if (!first) return undefined;
    let current = first;
    let isCancelled = false;
    const finished = async (): Promise<void> => {
      await first.finished;
      if (!this.#isRefused || isCancelled) return;
      try {
        const second = await this.#options.again(this.#second);
        if (!second) return;
        current = second;
        if (isCancelled) second.cancel();
        await second.finished;
      } catch (error) {
        this.#sink.fail(error instanceof RouterError ? error : brokenBy(error));
      }
    };
    return {
      cancel: () => {
        isCancelled = true;
        current.cancel();
      },
      fail: (error) => current.fail(error),
      finished: finished(),
    };
  }

  get #second(): JobSink {
    return withFailure(this.#sink, (error) =>
      this.#sink.fail(error.code === 'connection_required' ? this.#options.finalError() : error),
    );
  }
}

function withFailure(sink: JobSink, fail: JobSink['fail']): JobSink {
  return {
    begin: (job: Job) => sink.begin(job),
    data: (bytes) => sink.data(bytes),
    keepAlive: () => sink.keepAlive(),
    end: (bytes) => sink.end(bytes),
    fail,
  };
}

function brokenBy(cause: unknown): RouterError {
  return new RouterError('internal', 'The call could not be made again.', { cause });
}
