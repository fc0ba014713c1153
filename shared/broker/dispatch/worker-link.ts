import type { Logger } from '#shared/core/log.ts';
import type { TraceContext } from '#shared/core/tracing/tracing.ts';
import { bodyPartBytes, encodeClaimAnswer, type Grant } from '../contract/claim.ts';
import { encodeTicket } from '../contract/ticket.ts';
import type { Broker } from '../connection/connect-broker.ts';
import type { Attempt } from './attempt.ts';
import type { Job } from './job.ts';
import type { LiveWorker } from './workers/live-pool.ts';

const nothing = Buffer.alloc(0);

/** The number of no frame: who is asked for it answers that it does not have it. */
export const impossibleFrame = -1;

/** Milliseconds before an ejected worker's claim is refused: less than a second, after which an ingress counts as silent. */
const ejectedMs = 500;

/** The messages of an ingress to the workers that serve its jobs. */
export class WorkerLink {
  readonly #broker: Broker;
  readonly #ingress: string;
  readonly #log: Logger;
  /** Refusals that ejected workers wait for, by worker. */
  readonly #refusals = new Map<string, number>();

  constructor(broker: Broker, ingress: string, log: Logger) {
    this.#broker = broker;
    this.#ingress = ingress;
    this.#log = log;
  }

  /** Refuses a claim. */
  refuse(replyTo: string, answer: 'gone' | 'taken' | 'later'): void {
    this.#broker.publish(replyTo, encodeClaimAnswer({ answer }, nothing));
  }

  /**
   * Refuses a claim of an ejected worker after a moment, in which the claim takes one of its slots: it would otherwise pull the
   * same tickets again and again, and keep them from its peers. A worker with more claims than slots is answered at once.
   */
  refuseSlowly(replyTo: string, { id, announcement }: LiveWorker): void {
    const waiting = this.#refusals.get(id) ?? 0;
    if (waiting >= announcement.slots) return this.refuse(replyTo, 'later');
    this.#refusals.set(id, waiting + 1);
    setTimeout(() => {
      const left = (this.#refusals.get(id) ?? 1) - 1;
      if (left > 0) this.#refusals.set(id, left);
      else this.#refusals.delete(id);
      this.refuse(replyTo, 'later');
    }, ejectedMs).unref();
  }

  /** Grants a job that was just claimed, body and all, in answer to that claim and in its version of the contract. */
  grant(job: Job, attempt: Attempt, { v, replyTo }: { v: number; replyTo: string }, trace?: TraceContext): void {
    const isWanted = (): boolean => job.state === 'claimed' && job.attempt === attempt;
    const body = job.payload.bytes();
    this.#sendGrant(replyTo, this.#grantOf(job, attempt, v, trace), body, isWanted).catch((error: unknown) => {
      // The connection was lost between two parts: the worker reports it, or falls silent.
      this.#log.warn({ err: error, requestId: job.request.requestId }, 'sending a body was interrupted');
    });
  }

  /**
   * Offers a job, with a body of one part at most, to a worker that has not asked for it. A worker that does not take it answers
   * with an empty frame; so does the broker when the worker is gone.
   */
  offer(job: Job, attempt: Attempt, { v, at }: { v: number; at: string }, trace?: TraceContext): void {
    const grant = this.#grantOf(job, attempt, v, trace);
    this.#broker.publish(at, encodeClaimAnswer(grant, job.payload.bytes()), `${grant.reply}.r.0`);
  }

  /** Sends a ticket straight to a worker. One of an older release takes it for an offer that it cannot read, and ignores it. */
  handOver({ id }: Job, { v, at }: { v: number; at: string }): void {
    this.#broker.publish(at, encodeTicket({ v, ingress: this.#ingress, job: id }));
  }

  /** Cancels the job's attempt at its worker, if there is one: nobody waits for it any more. */
  cancel({ attempt }: Job): void {
    if (!attempt) return;
    const { subjects } = this.#broker;
    this.#broker.publish(subjects.cancel(attempt.worker.address), this.#replySubject(attempt.grant));
  }

  /**
   * Asks the job's worker for the frames that come next, and so for a sign of life; one that has none of them reports that. No
   * more than twice a second.
   */
  askAgain({ attempt }: Job, now: number): void {
    if (!attempt?.askAgain(now)) return;
    const range = `${this.#replySubject(attempt.grant)} ${attempt.nextSeq}`;
    this.#broker.publish(this.#broker.subjects.retransmit(attempt.worker.address), range);
  }

  /**
   * Asks a worker that counts as dead for a frame that cannot exist, of a job that it had. It answers with an error that tells
   * when it was started. Should it still run the job, it stops.
   */
  askWhetherAlive({ worker, grant }: { worker: LiveWorker; grant: string }): void {
    this.#broker.publish(
      this.#broker.subjects.retransmit(worker.address),
      `${this.#replySubject(grant)} ${impossibleFrame}`,
    );
  }

  /**
   * The answer with the body, or, where that has several parts, without any of it, which saves a copy; then the parts to the same
   * subject, in order. After two parts it waits for the connection to drain, so that a large body does not stand before other jobs'
   * frames.
   * @param isWanted whether the rest is still to be sent, called after each such wait
   */
  async #sendGrant(to: string, grant: Grant, body: Uint8Array, isWanted: () => boolean): Promise<void> {
    if (body.length <= bodyPartBytes) return this.#broker.publish(to, encodeClaimAnswer(grant, body));
    this.#broker.publish(to, encodeClaimAnswer(grant, nothing));
    for (let start = 0; start < body.length; start += bodyPartBytes) {
      if (start > 0 && start % (2 * bodyPartBytes) === 0) {
        await this.#broker.flush();
        if (!isWanted()) return;
      }
      this.#broker.publish(to, body.subarray(start, start + bodyPartBytes));
    }
  }

  #grantOf({ id, request, payload }: Job, { placement, grant }: Attempt, v: number, trace?: TraceContext): Grant {
    const { requestId, operation, format, stream, headers, answerId, ownerKey, connection, unread } = request;
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
      answerId,
      ownerKey,
      connection,
      unread,
      trace,
      reply: this.#replySubject(grant),
      numbersBeside: true,
      bodyBytes: payload.length,
      relayedBytes: payload.relayedBytes,
    };
  }

  #replySubject(grant: string): string {
    return this.#broker.subjects.reply(this.#ingress, grant);
  }
}
