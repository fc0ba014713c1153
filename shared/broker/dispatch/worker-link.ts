import type { Logger } from '#shared/core/log.ts';
import { bodyPartBytes, copyRequestFields, encodeClaimAnswer, type Grant } from '../contract/claim.ts';
import { encodeTicket } from '../contract/ticket.ts';
import type { Broker } from '../connection/connect-broker.ts';
import type { Attempt } from './attempt.ts';
import type { Job } from './job.ts';
import type { LiveWorker } from './workers/live-worker.ts';

const emptyBytes = Buffer.alloc(0);

/** A number that no frame has. A worker that is asked for this frame answers with an error that states when the worker was started. */
export const impossibleFrameNumber = -1;

/** Milliseconds until an ejected worker's claim is refused: less than the second after which a dispatcher counts as silent. */
const ejectedRefusalMs = 500;

/** Sends messages to workers: grants, offers, refusals, tickets, cancels, and requests for frames. */
export class WorkerLink {
  readonly #broker: Broker;
  readonly #ingress: string;
  readonly #log: Logger;
  readonly #delayedRefusals = new Map<string, number>();

  constructor(broker: Broker, ingress: string, log: Logger) {
    this.#broker = broker;
    this.#ingress = ingress;
    this.#log = log;
  }

  refuse(replyTo: string, answer: 'gone' | 'taken' | 'later'): void {
    this.#broker.publish(replyTo, encodeClaimAnswer({ answer }, emptyBytes));
  }

  /**
   * Refuses a claim of an ejected worker after a moment, during which the claim uses one of the worker's slots. If the refusal came at
   * once, the worker would pull the same tickets again and again, and keep them from its peers. Only claims beyond the worker's slots are
   * refused at once.
   */
  refuseDelayed(replyTo: string, { id, announcement }: LiveWorker): void {
    const delayedRefusals = this.#delayedRefusals.get(id) ?? 0;
    if (delayedRefusals >= announcement.slots) return this.refuse(replyTo, 'later');
    this.#delayedRefusals.set(id, delayedRefusals + 1);
    setTimeout(() => {
      const remaining = (this.#delayedRefusals.get(id) ?? 1) - 1;
      if (remaining > 0) this.#delayedRefusals.set(id, remaining);
      else this.#delayedRefusals.delete(id);
      this.refuse(replyTo, 'later');
    }, ejectedRefusalMs).unref();
  }

  /** Grants a job, with its body, to the worker that has claimed it, in the claim's version of the contract. */
  grant(job: Job, attempt: Attempt, { v, replyTo }: { v: number; replyTo: string }): void {
    const isWanted = (): boolean => job.state === 'claimed' && job.attempt === attempt;
    const body = job.payload.toBuffer();
    this.#sendGrant(replyTo, this.#createGrant(job, attempt, v), body, isWanted).catch((error: unknown) => {
      // The connection was lost between two parts. The worker then gives the job back, or falls silent.
      this.#log.warn({ err: error, requestId: job.request.requestId }, 'sending a body was interrupted');
    });
  }

  /**
   * Offers a job to a worker that has not claimed it. The body must fit into one part. A worker that refuses the offer answers with an
   * empty frame; so does the broker if the worker has no subscription.
   */
  offer(job: Job, attempt: Attempt, { v, subject }: { v: number; subject: string }): void {
    const grant = this.#createGrant(job, attempt, v);
    this.#broker.publish(subject, encodeClaimAnswer(grant, job.payload.toBuffer()), `${grant.reply}.r.0`);
  }

  /** Sends a ticket straight to a worker. */
  sendTicket({ id }: Job, { v, subject }: { v: number; subject: string }): void {
    this.#broker.publish(subject, encodeTicket({ v, ingress: this.#ingress, job: id }));
  }

  /** Cancels the job's attempt at its worker, if there is one, because no client waits for the answer any more. */
  cancel({ attempt }: Job): void {
    if (!attempt) return;
    const { subjects } = this.#broker;
    this.#broker.publish(subjects.cancel(attempt.worker.address), this.#getReplySubject(attempt.grant));
  }

  /**
   * Asks the job's worker for the frames that this dispatcher has not received, at most twice a second. The answer is also a sign of life.
   * A worker that does not have the job answers with an error.
   */
  requestFrames({ attempt }: Job, now: number): void {
    if (!attempt?.recordRetransmitRequest(now)) return;
    const range = `${this.#getReplySubject(attempt.grant)} ${attempt.nextSeq}`;
    this.#broker.publish(this.#broker.subjects.retransmit(attempt.worker.address), range);
  }

  /**
   * Asks a worker that counts as dead for an impossible frame of its former job. The worker answers with an error that states when the
   * worker was started. A worker that still runs the job stops it.
   */
  sendDeathCheck({ worker, grant }: { worker: LiveWorker; grant: string }): void {
    this.#broker.publish(
      this.#broker.subjects.retransmit(worker.address),
      `${this.#getReplySubject(grant)} ${impossibleFrameNumber}`,
    );
  }

  /**
   * Sends a grant with its body. If the body has several parts, sends the grant without any part, which saves a copy, and then the parts to
   * the same subject, in order. After every two parts, waits until the broker has received them, so that a large body does not delay other
   * jobs' frames.
   * @param isWanted called after each wait; returns whether the remaining parts must still be sent
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

  #createGrant({ id, request, payload }: Job, { placement, grant, traceContext }: Attempt, v: number): Grant {
    return {
      answer: 'grant',
      v,
      job: id,
      ...copyRequestFields(request),
      model: placement.model,
      trace: traceContext,
      reply: this.#getReplySubject(grant),
      bodyBytes: payload.length,
      relayedBytes: payload.relayedBytes,
    };
  }

  #getReplySubject(grant: string): string {
    return this.#broker.subjects.reply(this.#ingress, grant);
  }
}
