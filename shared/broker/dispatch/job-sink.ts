import type { RouterError } from '#shared/core/errors.ts';
import type { Attempt } from './attempt.ts';

/** What a sink is told of its job. */
export interface ServedJob {
  readonly attempt: Attempt | undefined;
  readonly attempts: number;
  readonly queuedAt: number;
}

/**
 * Where a job's answer goes. One of `end` and `fail` is called, once, unless the job is cancelled before. A method that throws
 * fails the job: `fail` is called then, unless it is the one that threw.
 */
export interface JobSink {
  /** Called once, before the first bytes of the answer: it is decided who serves the job. */
  begin(job: ServedJob): void;
  /** A piece of a streamed answer, ready for the client's socket. */
  data(bytes: Uint8Array): void;
  /** Another worker goes on with a stream: its first bytes come next. */
  moved?(job: ServedJob): void;
  /** The client of a stream has got nothing for a while. */
  keepAlive(): void;
  /** The last bytes of a streamed answer, or the whole of one that is not streamed. */
  end(bytes: Uint8Array): void;
  fail(error: RouterError): void;
}
