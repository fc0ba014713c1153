import type { Response } from 'express';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { AnswerFormat, LimitStatus } from '#shared/formats/client-format.ts';
import type { Caller } from '#shared/serving/caller.ts';
import type { RunningRequest } from '#shared/serving/run-job.ts';
import { runUncancelled } from '../idempotency/claim-key.ts';
import { requestIdOf } from './request-id.ts';
import { identityOf } from './require-key.ts';
import { traceOf } from './trace-request.ts';

/** The HTTP client of a request. Construct it after `requireKey` only. */
export class HttpCaller implements Caller {
  readonly requestId: string;
  readonly identity: KeyIdentity;
  readonly trace: TraceSpan | undefined;
  isRecorded = false;
  readonly #response: Response;
  readonly #format: Pick<AnswerFormat, 'limitHeaders'>;

  constructor(response: Response, format: Pick<AnswerFormat, 'limitHeaders'>) {
    this.requestId = requestIdOf(response);
    this.identity = identityOf(response);
    this.trace = traceOf(response);
    this.#response = response;
    this.#format = format;
  }

  /** Sets the response headers that report how much of the limits is left. */
  onLimitStatus(status: LimitStatus): void {
    if (this.#response.headersSent) return;
    const headers = this.#format.limitHeaders(status);
    for (const [name, value] of Object.entries(headers)) this.#response.setHeader(name, value);
  }

  /** Makes a request with an idempotency key continue without its client, so that a repetition of the request gets the answer. */
  onEffects(): void {
    runUncancelled(this.#response);
  }

  isGone(): boolean {
    return this.#response.destroyed;
  }

  /** Makes the running request be cancelled when its client disconnects, and returns the request. A finished request is not affected. */
  cancelOnDisconnect(running: RunningRequest | undefined): RunningRequest | undefined {
    if (!running) return undefined;
    if (this.#response.destroyed) running.cancel();
    else this.#response.on('close', running.cancel);
    return running;
  }
}
