import type { Logger } from '#shared/core/log.ts';
import type { TraceContext } from '#shared/core/tracing/tracing.ts';
import type { Broker } from '../connect-broker.ts';
import { sendGrant } from './send-claim-answer.ts';
import type { Job } from './job.ts';

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

  /** Grants a job that was just claimed, body and all, in answer to that claim. */
  grant(job: Job, replyTo: string, model: string, trace?: TraceContext): void {
    const { requestId, operation, family, stream, headers } = job.request;
    const { attempt } = job;
    const body = job.body ?? Buffer.alloc(0);
    const head = { answer: 'grant', job: job.id, requestId, operation, family, stream, model, headers, trace } as const;
    const isWanted = (): boolean => job.state === 'claimed' && job.attempt === attempt;
    const grant = { ...head, reply: this.#replySubject(job), bodyBytes: body.length };
    sendGrant(this.#broker, replyTo, grant, body, isWanted).catch((error: unknown) => {
      // A connection lost between two parts: the worker will say so, or fall silent.
      this.#log.warn({ err: error, requestId }, 'sending a body was interrupted');
    });
  }

  /** Tells the worker that nobody waits for this attempt any more. */
  stop(job: Job): void {
    const worker = job.served?.worker.announcement.worker;
    if (worker !== undefined) this.#broker.publish(this.#broker.subjects.cancel(worker), this.#replySubject(job));
  }

  /**
   * Asks the worker for the frames from `job.nextSeq` on, and so for a sign of life; one that cannot give either says
   * so. No more than twice a second.
   */
  askAgain(job: Job, now: number): void {
    const worker = job.served?.worker.announcement.worker;
    if (worker === undefined || now - job.askedAt < askAgainMs) return;
    job.askedAt = now;
    this.#broker.publish(this.#broker.subjects.resume(worker), `${this.#replySubject(job)} ${job.nextSeq}`);
  }

  #replySubject({ id, attempt }: Job): string {
    return this.#broker.subjects.reply(this.#ingress, id, attempt);
  }
}
