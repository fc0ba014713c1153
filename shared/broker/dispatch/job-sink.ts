import type { RouterError } from '#shared/core/errors.ts';
import type { Attempt } from './attempt.ts';

export interface ServedJob {
  readonly attempt: Attempt | undefined;
  readonly attempts: number;
  readonly queuedAt: number;
}

/**
 * Receives a job's answer. Either `end` or `fail` is called, once, unless the job is cancelled before. If a method throws, the job fails,
 * and `fail` is called, unless `fail` itself threw.
 */
export interface JobSink {
  /** Called once, before the first bytes of the answer, when it is certain which worker serves the job. */
  begin(job: ServedJob): void;
  /** Receives a piece of a streamed answer, ready for the client's socket. */
  data(bytes: Uint8Array): void;
  /** Called when another worker continues a stream, before its first bytes. */
  moved?(job: ServedJob): void;
  /** Called if the client of a stream has got nothing for a while. */
  keepAlive(): void;
  /** Receives the last bytes of a streamed answer, or the whole of an answer that is not streamed. */
  end(bytes: Uint8Array): void;
  fail(error: RouterError): void;
}
