import type { Logger } from '#shared/core/log.ts';
import type { TraceContext } from '#shared/core/tracing/tracing.ts';
import type { Broker } from '../connect-broker.ts';
import { sendGrant } from './send-claim-answer.ts';
import type { Job, Served } from './job.ts';

/** Milliseconds between two requests for missing frames of one job. */
const askAgainMs = 500;

/** What an ingress says to the workers that serve its jobs. */
export class WorkerLink {
  readonly #broker: Broker;
  readonly #ingress: string;
  readonly #log: Logger;

  constructor(broker: Broker, ingress: string, log: Logger) {
    this.#broker = broker;
    this.#ingress = ingress;
    this.#log = log;
  }

  /** Grants a job that was just claimed, body and all, in answer to that claim and in its version of the contract. */
  grant(
    job: Job,
    { placement: { model }, grant }: Served,
    { v, replyTo }: { v: number; replyTo: string },
    trace?: TraceContext,
  ): void {
    const { requestId, operation, family, stream, headers } = job.request;
    const { attempt } = job;
    const body = job.body ?? Buffer.alloc(0);
    const head = {
      answer: 'grant',
      v,
      job: job.id,
      requestId,
      operation,
      family,
      stream,
      model,
      headers,
      trace,
    } as const;
    const isWanted = (): boolean => job.state === 'claimed' && job.attempt === attempt;
    const answer = { ...head, reply: this.#replySubject(grant), bodyBytes: body.length };
    sendGrant(this.#broker, replyTo, answer, body, isWanted).catch((error: unknown) => {
      // A connection lost between two parts: the worker will say so, or fall silent.
      this.#log.warn({ err: error, requestId }, 'sending a body was interrupted');
    });
  }

  /** Tells the worker that nobody waits for this attempt any more. */
  stop({ served }: Job): void {
    if (!served) return;
    this.#broker.publish(this.#broker.subjects.cancel(served.worker.address), this.#replySubject(served.grant));
  }

  /**
   * Asks the worker for the frames from `job.nextSeq` on, and so for a sign of life; one that cannot give either says
   * so. No more than twice a second.
   */
  askAgain(job: Job, now: number): void {
    const { served } = job;
    if (!served || now - job.askedAt < askAgainMs) return;
    job.askedAt = now;
    const wish = `${this.#replySubject(served.grant)} ${job.nextSeq}`;
    this.#broker.publish(this.#broker.subjects.resume(served.worker.address), wish);
  }

  #replySubject(grant: string): string {
    return this.#broker.subjects.reply(this.#ingress, grant);
  }
}
