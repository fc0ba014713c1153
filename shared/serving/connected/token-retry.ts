import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { RunningRequest } from '../run-job.ts';

export interface TokenRetryOptions {
  /** Makes the second call, with another token. */
  repeat: (sink: JobSink) => Promise<RunningRequest | undefined>;
  /** Builds the error for a call if the server also refuses the second token. */
  finalError: () => RouterError;
}

/**
 * Repeats a call once, with another token, if the server refuses the first token. A refused call has had no effect, and the caller does not
 * get its error.
 *
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

  /** Returns a request that represents the first call and, if there is one, the second call. */
  follow(first: RunningRequest | undefined): RunningRequest | undefined {
    if (!first) return undefined;
    let current = first;
    let isCancelled = false;
    let failure: RouterError | undefined;
    const finished = async (): Promise<void> => {
      await first.finished;
      if (!this.#isRefused || isCancelled) return;
      try {
        if (failure) throw failure;
        const secondCall = await this.#options.repeat(this.#secondSink);
        if (!secondCall) return;
        current = secondCall;
        if (isCancelled) secondCall.cancel();
        else if (failure) secondCall.fail(failure);
        await secondCall.finished;
      } catch (error) {
        this.#sink.fail(error instanceof RouterError ? error : createRepeatError(error));
      }
    };
    return {
      cancel: () => {
        isCancelled = true;
        current.cancel();
      },
      fail: (error) => {
        // Between the two calls, `current` has ended and ignores the error.
        failure ??= error;
        current.fail(error);
      },
      finished: finished(),
    };
  }

  get #secondSink(): JobSink {
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

function createRepeatError(cause: unknown): RouterError {
  return new RouterError('internal', 'The call could not be made again.', { cause });
}
