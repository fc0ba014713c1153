import type { Msg } from '@nats-io/transport-node';
import { RouterError } from '#shared/core/errors.ts';
import { decodeAnswerHeaders } from '../contract/answer-headers.ts';
import { decodeEnd, decodeError, decodeErrorFacts } from '../contract/frame.ts';
import { maxSubjectLength, parseFrameAddress, type FrameAddress } from '../contract/subjects.ts';
import type { Attempt } from './attempt.ts';
import { createLossError } from './deaths/death.ts';
import type { DispatchContext } from './dispatch-context.ts';
import type { Job } from './job.ts';
import type { FailureEvent } from './job-event.ts';
import type { JobMachine } from './job-machine.ts';
import type { PartialAnswers } from './partial-answers.ts';
import { impossibleFrameNumber } from './worker-link.ts';

/** Handles the frames of all answers: finds the job by the grant in the frame's subject, and passes the bytes to the job's sink. */
export class ReplyReceiver {
  readonly #context: DispatchContext;
  readonly #machine: JobMachine;
  readonly #partialAnswers: PartialAnswers<Job>;
  readonly #prefixLength: number;

  /** @param partialAnswers keeps the received parts of answers that are not streamed until the answers are complete */
  constructor(context: DispatchContext, machine: JobMachine, partialAnswers: PartialAnswers<Job>) {
    this.#context = context;
    this.#machine = machine;
    this.#partialAnswers = partialAnswers;
    this.#prefixLength = context.broker.subjects.reply(context.settings.ingress, '').length;
  }

  onReply(message: Msg): void {
    const frame = parseFrameAddress(message.subject.slice(this.#prefixLength), message);
    const job = frame && this.#context.jobs.findByGrant(frame.grant);
    if (!job) return this.#onUnwantedFrame(message, frame);
    try {
      this.#onFrame(job, frame, message);
    } catch (error) {
      this.#machine.onThrown(job, error);
    }
  }

  #onFrame(job: Job, { kind, seq }: FrameAddress, message: Msg): void {
    const { attempt } = job;
    // Frames that are sent again may have arrived already.
    if (!attempt || seq < attempt.nextSeq) return;
    const now = performance.now();
    if (seq > attempt.nextSeq) return this.#context.link.requestFrames(job, now);
    if (kind === 'r') return this.#machine.raise(job, { type: 'offerRefused' });
    const payload = message.data;
    if (seq === 0 && kind !== 'k') attempt.answerHeaders = decodeAnswerHeaders(message.headers);
    attempt.recordFrame(kind, now);
    if (kind === 'd') {
      attempt.answerBytes += payload.length;
      if (job.request.stream) this.#onPiece(job, attempt, payload, now);
      else this.#keepPart(job, payload);
    } else if (kind === 'e') this.#onEnd(job, attempt, payload, now);
    else if (kind === 'x') this.#machine.raise(job, toFailure(job, attempt, payload));
  }

  #onPiece(job: Job, attempt: Attempt, piece: Uint8Array, now: number): void {
    if (job.state === 'claimed') {
      this.#context.judge.recordFirstToken(job, attempt, now);
      this.#machine.raise(job, { type: 'answerBegan' });
    }
    job.write(piece, now);
  }

  #keepPart(job: Job, part: Uint8Array): void {
    const jobToEnd = this.#partialAnswers.keep(job, part);
    if (jobToEnd) this.#machine.raise(jobToEnd, { type: 'abandoned', error: createTooLargeError() });
  }

  #onEnd(job: Job, attempt: Attempt, payload: Uint8Array, now: number): void {
    const decoded = decodeEnd(payload);
    if (!decoded) return this.#machine.raise(job, { type: 'abandoned', error: createUnreadableEndError() });
    attempt.answerBytes += decoded.lastBytes.length;
    if (job.state === 'claimed' && job.request.stream) this.#context.judge.recordFirstToken(job, attempt, now);
    job.writeEnd(decoded.lastBytes, now);
    this.#machine.raise(job, { type: 'ended', end: decoded.end });
  }

  /**
   * Handles a frame whose grant belongs to no running job. Answers a keep-alive. The answer tells the worker that no client waits for the
   * job.
   */
  #onUnwantedFrame({ reply, data }: Msg, { grant, kind, seq }: Partial<FrameAddress> = {}): void {
    const { broker, checks } = this.#context;
    if (kind === 'x' && seq === impossibleFrameNumber && grant !== undefined)
      checks.onAnswer(grant, () => decodeErrorFacts(data));
    // The broker lets a worker name any reply subject. So only an inbox for keep-alives that ends with this grant gets the answer.
    const isAliveInbox =
      reply !== undefined &&
      reply.length <= maxSubjectLength &&
      reply.startsWith(broker.subjects.inboxPrefix) &&
      reply.endsWith(`.alive.${grant}`);
    if (isAliveInbox) broker.publish(reply, '');
  }
}

/**
 * Converts an error frame to an event. If the sender was started at another time than the process that got the job, that process has died
 * with the job. It does not matter which start time is later, because clocks can be set.
 */
function toFailure({ continuation }: Job, { worker }: Attempt, payload: Uint8Array): FailureEvent {
  const error = decodeError(payload);
  const { unbegun: isUnbegun, startedAt, cannotContinue } = decodeErrorFacts(payload);
  // Only a worker that should continue the stream of another worker can report this.
  const failure = continuation?.lossError && cannotContinue;
  if (failure !== undefined || error.code !== 'worker_lost')
    return { type: 'workerFailed', error, isReported: true, isUnbegun, failure };
  const isFromReplacement = startedAt !== undefined && startedAt !== worker.announcement.startedAt;
  return isFromReplacement
    ? { type: 'workerDied', error: createLossError(), evidence: 'replaced' }
    : { type: 'workerLost', error: new RouterError('worker_lost', error.message), isUnbegun, isReturned: true };
}

function createTooLargeError(): RouterError {
  return new RouterError('upstream_failed', 'The answer is too large.');
}

function createUnreadableEndError(): RouterError {
  return new RouterError('internal', 'The end of the answer cannot be read.');
}
