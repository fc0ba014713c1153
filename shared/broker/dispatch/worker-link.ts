import type { Logger } from '#shared/core/log.ts';
import type { TraceContext } from '#shared/core/tracing/tracing.ts';
import { bodyPartBytes, encodeClaimAnswer, type Grant } from '../contract/claim.ts';
import { encodeTicket } from '../contract/ticket.ts';
import type { Broker } from '../connection/connect-broker.ts';
import type { Attempt } from './attempt.ts';
import type { Job } from './job.ts';
import type { LiveWorker } from './workers/live-pool.ts';

const emptyBytes = Buffer.alloc(0);

/** A number that no frame has. A worker that gets a request for it answers that it does not have the frame. */
export const impossibleFrameNumber = -1;

/** Milliseconds until an ejected worker's claim is refused. They are less than the second after which a dispatcher counts as silent. */
const ejectedMs = 500;

export class WorkerLink {
  readonly #broker: Broker;
  readonly #ingress: string;
  readonly #log: Logger;
  readonly #refusals = new Map<string, number>();

  constructor(broker: Broker, ingress: string, log: Logger) {
    this.#broker = broker;
    this.#ingress = ingress;
    this.#log = log;
  }

  refuse(replyTo: string, answer: 'gone' | 'taken' | 'later'): void {
    this.#broker.publish(replyTo, encodeClaimAnswer({ answer }, emptyBytes));
  }

  /**
   * Refuses a claim of an ejected worker after a moment, during which the claim uses one of the worker's slots. Otherwise the worker would
   * pull the same tickets again and again and keep them from its peers. A worker with more claims than slots is refused at once.
   */
  refuseDelayed(replyTo: string, { id, announcement }: LiveWorker): void {
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

  /** Grants a job that was just claimed, with its body, in answer to the claim and in the claim's version of the contract. */
  grant(job: Job, attempt: Attempt, { v, replyTo }: { v: number; replyTo: string }, trace?: TraceContext): void {
    const isWanted = (): boolean => job.state === 'claimed' && job.attempt === attempt;
    const body = job.payload.bytes();
    this.#sendGrant(replyTo, this.#grantOf(job, attempt, v, trace), body, isWanted).catch((error: unknown) => {
      // The connection was lost between two parts. The worker reports that, or falls silent.
      this.#log.warn({ err: error, requestId: job.request.requestId }, 'sending a body was interrupted');
    });
  }

  /**
   * Offers a job, with a body of at most one part, to a worker that has not claimed it. A worker that does not take the job answers with an
   * empty frame; so does the broker if the worker has no subscription.
   */
  offer(job: Job, attempt: Attempt, { v, at }: { v: number; at: string }, trace?: TraceContext): void {
    const grant = this.#grantOf(job, attempt, v, trace);
    this.#broker.publish(at, encodeClaimAnswer(grant, job.payload.bytes()), `${grant.reply}.r.0`);
  }

  sendTicket({ id }: Job, { v, at }: { v: number; at: string }): void {
    this.#broker.publish(at, encodeTicket({ v, ingress: this.#ingress, job: id }));
  }

  /** Cancels the job's attempt at its worker, if there is one, because no client waits for the answer any more. */
  cancel({ attempt }: Job): void {
    if (!attempt) return;
    const { subjects } = this.#broker;
    this.#broker.publish(subjects.cancel(attempt.worker.address), this.#replySubject(attempt.grant));
  }

  /**
   * Requests the next frames from the job's worker, which also serves as a sign of life. A worker that does not know the job reports
   * that. Sends at most two requests a second.
   */
  requestFrames({ attempt }: Job, now: number): void {
    if (!attempt?.recordRetransmitRequest(now)) return;
    const range = `${this.#replySubject(attempt.grant)} ${attempt.nextSeq}`;
    this.#broker.publish(this.#broker.subjects.retransmit(attempt.worker.address), range);
  }

  /**
   * Asks a worker that counts as dead for an impossible frame of its former job. The worker answers with an error that says when it was
   * started. If it still runs the job, it stops the job.
   */
  sendDeathCheck({ worker, grant }: { worker: LiveWorker; grant: string }): void {
    this.#broker.publish(
      this.#broker.subjects.retransmit(worker.address),
      `${this.#replySubject(grant)} ${impossibleFrameNumber}`,
    );
  }

  /**
   * Sends the answer with the body. If the body has several parts, sends the answer without any of them, which saves a copy, then the parts
   * to the same subject, in order. After every two parts it waits for the connection to drain, so that a large body does not delay other
   * jobs' frames.
   * @param isWanted returns whether the remaining parts must still be sent; called after each such wait
   */
  async #sendGrant(to: string, grant: Grant, body: Uint8Array, isWanted: () => boolean): Promise<void> {
    if (body.length <= bodyPartBytes) return this.#broker.publish(to, encodeClaimAnswer(grant, body));
    this.#broker.publish(to, encodeClaimAnswer(grant, emptyBytes));
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
      bodyBytes: payload.length,
      relayedBytes: payload.relayedBytes,
    };
  }

  #replySubject(grant: string): string {
    return this.#broker.subjects.reply(this.#ingress, grant);
  }
}
