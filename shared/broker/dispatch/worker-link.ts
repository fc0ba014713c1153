import type { Logger } from '#shared/core/log.ts';
import type { TraceContext } from '#shared/core/tracing/tracing.ts';
import { encodeClaimAnswer, type Grant } from '../contract/claim.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { sendGrant } from './send-claim-answer.ts';
import type { Job, Served } from './job.ts';

/** Milliseconds between two requests for missing frames of one job. */
const askAgainMs = 500;

const nothing = Buffer.alloc(0);

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
  grant(job: Job, served: Served, { v, replyTo }: { v: number; replyTo: string }, trace?: TraceContext): void {
    const { attempt } = job;
    const body = job.body ?? nothing;
    const isWanted = (): boolean => job.state === 'claimed' && job.attempt === attempt;
    sendGrant(this.#broker, replyTo, this.#grantOf(job, served, v, trace), body, isWanted).catch((error: unknown) => {
      // A connection lost between two parts: the worker will say so, or fall silent.
      this.#log.warn({ err: error, requestId: job.request.requestId }, 'sending a body was interrupted');
    });
  }

  /**
   * Offers a job, with a body of one part at most, to a worker that has not asked for it. A worker that does not take it says so
   * with an empty frame; so does the broker when the worker is gone.
   */
  offer(job: Job, served: Served, { v, at }: { v: number; at: string }, trace?: TraceContext): void {
    const grant = this.#grantOf(job, served, v, trace);
    this.#broker.publish(at, encodeClaimAnswer(grant, job.body ?? nothing), `${grant.reply}.r.0`);
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
    const range = `${this.#replySubject(served.grant)} ${job.nextSeq}`;
    this.#broker.publish(this.#broker.subjects.retransmit(served.worker.address), range);
  }

  #grantOf({ id, request, body }: Job, { placement, grant }: Served, v: number, trace?: TraceContext): Grant {
    const { requestId, operation, format, stream, headers } = request;
    return {
      answer: 'grant',
      v,
      job: id,
      requestId,
      operation,
      format,
      stream,
      model: placement.model,
      headers,
      trace,
      reply: this.#replySubject(grant),
      bodyBytes: body?.length ?? 0,
    };
  }

  #replySubject(grant: string): string {
    return this.#broker.subjects.reply(this.#ingress, grant);
  }
}
