import type { RouterError } from '#shared/core/errors.ts';
import type { Attempt } from './attempt.ts';

/** The fields of a job that its sink reads. */
export interface ServedJob {
  readonly attempt: Attempt | undefined;
  readonly attempts: number;
  readonly queuedAt: number;
}

/**
 * Receives a job's answer. At the end, either `end` or `fail` is called once; neither is called after the job is cancelled. If a method
 * other than `fail` throws, the job fails, and `fail` is called.
 */
export interface JobSink {
  /** Called once, before the first bytes of the answer. The job's attempt names the worker that serves it. */
  begin(job: ServedJob): void;
  /** Receives a piece of a streamed answer, ready for the client's socket. */
  data(bytes: Uint8Array): void;
  /** Called when another worker continues a stream, before the first bytes of that worker. */
  moved?(job: ServedJob): void;
  /** Called when the client of a stream has got nothing for a while. */
  keepAlive(): void;
  /** Receives the last bytes of a streamed answer, or the whole of an answer that is not streamed. */
  end(bytes: Uint8Array): void;
  fail(error: RouterError): void;
}
