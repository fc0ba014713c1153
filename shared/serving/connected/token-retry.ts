import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { RunningRequest } from '../run-job.ts';

export interface TokenRetryOptions {
  /** Makes the second call, with another token. */
  repeat: (sink: JobSink) => Promise<RunningRequest | undefined>;
  /** Builds the error of a call whose second token is refused, too. */
  finalError: () => RouterError;
}

/**
 * Repeats a call once, with another token, if the server refuses the first token. A refused call has done nothing, and its error is not
 * passed on to the caller.
 * States: first → ended, or first → second → ended.
 */
export class TokenRetry {
  readonly #sink: JobSink;
  readonly #options: TokenRetryOptions;
  #isRefused = false;

  constructor(sink: JobSink, options: TokenRetryOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  /** The sink for the first call. */
  get firstSink(): JobSink {
    return replaceFail(this.#sink, (error) => {
      if (error.code === 'connection_required') this.#isRefused = true;
      else this.#sink.fail(error);
    });
  }

  /** Returns a request that stands for the first call and, if there is one, the second call. */
  follow(first: RunningRequest | undefined): RunningRequest | undefined {
    if (!first) return undefined;
    let current = first;
    let isCancelled = false;
    const finished = async (): Promise<void> => {
      await first.finished;
      if (!this.#isRefused || isCancelled) return;
      try {
        const secondSink = await this.#options.repeat(this.#second);
        if (!secondSink) return;
        current = secondSink;
        if (isCancelled) secondSink.cancel();
        await secondSink.finished;
      } catch (error) {
        this.#sink.fail(error instanceof RouterError ? error : repeatError(error));
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
    return replaceFail(this.#sink, (error) =>
      this.#sink.fail(error.code === 'connection_required' ? this.#options.finalError() : error),
    );
  }
}

function replaceFail(sink: JobSink, fail: JobSink['fail']): JobSink {
  return {
    begin: (job: Job) => sink.begin(job),
    data: (bytes) => sink.data(bytes),
    keepAlive: () => sink.keepAlive(),
    end: (bytes) => sink.end(bytes),
    fail,
  };
}

function repeatError(cause: unknown): RouterError {
  return new RouterError('internal', 'The call could not be made again.', { cause });
}
