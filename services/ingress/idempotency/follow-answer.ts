import { randomUUID } from 'node:crypto';
import type { Response } from 'express';
import type {
  AnswerHead,
  ExecutionRef,
  AnswerPart,
  AnswerPiece,
  RequestFacts,
} from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import { createShuttingDownError, RouterError } from '#shared/core/errors.ts';
import { waitForDrain } from '#shared/core/wait-for-drain.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import { WakeSignal } from '../http/wake-signal.ts';
import { getRequestContext } from '../http/request-context.ts';
import { selectEventsAfter, isKeepAlive, eventNumberStride } from './event-numberer.ts';
import type { IdempotencyParts } from './idempotency-parts.ts';

/** Milliseconds between two reads of an answer. Each read also registers that a client waits for it. */
const readIntervalMs = 1_000;

/** A client waits this many milliseconds for an unavailable store once its answer has begun. They count from the last successful read. */
const maxUnavailableMs = 60_000;

/** An answer that was begun for an earlier request with the same key. */
export interface FollowedAnswer {
  execution: ExecutionRef;
  /** Id of the event that the answer continues after; undefined for the whole answer. */
  after: number | undefined;
  format: AnswerFormat;
  /** @throws RouterError if the answer belongs to a different request */
  assertSameRequest: (facts: RequestFacts) => void;
}

/**
 * Sends the answer of an execution until the answer is over or the client disconnects: first its stored part, then the parts that are
 * added.
 * @returns `free` if nothing was sent, because the execution has ended without an answer
 * @throws RouterError `answer_not_kept`, `shutting_down`, `store_unavailable`; `invalid_value` for an event that does not exist; the errors
 * of `assertSameRequest`. Throws only if nothing was sent
 */
export async function followAnswer(
  response: Response,
  followed: FollowedAnswer,
  parts: Pick<IdempotencyParts, 'answers' | 'outages' | 'changes' | 'keepAliveMs' | 'unreadMs' | 'ending' | 'log'>,
): Promise<'answered' | 'free'> {
  const follower = new Follower(response, followed, parts);
  return follower.follow();
}

class Follower {
  readonly #response: Response;
  readonly #followed: FollowedAnswer;
  readonly #parts: Parameters<typeof followAnswer>[2];
  readonly #id = randomUUID();
  readonly #clientGone = new AbortController();
  readonly #keepAliveText: string;
  /** Number of the last event that was sent or that the client already has, counted within the execution; -1 if there is none. */
  #last = -1;
  #head: AnswerHead | undefined;
  #writtenAt = 0;

  constructor(response: Response, followed: FollowedAnswer, parts: Parameters<typeof followAnswer>[2]) {
    this.#response = response;
    this.#followed = followed;
    this.#parts = parts;
    const formatKeepAlive = followed.format
      .openStream({ requestId: getRequestContext(response).requestId })
      .keepAlive();
    this.#keepAliveText = isKeepAlive(Buffer.from(formatKeepAlive)) ? formatKeepAlive : ': keep-alive\n\n';
  }

  async follow(): Promise<'answered' | 'free'> {
    const { answers, outages, changes, ending, log } = this.#parts;
    const { execution } = this.#followed;
    const onClose = (): void => this.#clientGone.abort();
    this.#response.on('close', onClose);
    if (this.#response.destroyed) onClose();
    const wakeSignal = new WakeSignal(AbortSignal.any([this.#clientGone.signal, ending]));
    const unwatch = changes.watch(execution.attempt, () => wakeSignal.notify());
    try {
      let readAt = performance.now();
      while (!this.#clientGone.signal.aborted) {
        const partRead = outages.retry(() => answers.read(execution, this.#id, this.#last));
        const part = await partRead.catch((error: unknown) => {
          if (!this.#head || performance.now() - readAt > maxUnavailableMs) throw error;
          return 'unavailable' as const;
        });
        if (part !== 'unavailable') {
          readAt = performance.now();
          const outcome = await this.#handlePart(part);
          if (outcome === 'more') continue;
          if (outcome !== 'later') return outcome;
        }
        if (ending.aborted) throw createShuttingDownError();
        await wakeSignal.wait(Math.min(readIntervalMs, this.#parts.keepAliveMs));
        this.#keepAlive();
      }
      return 'answered';
    } catch (error) {
      if (!this.#head || !(error instanceof RouterError)) throw error;
      this.#endWithError(error);
      return 'answered';
    } finally {
      unwatch();
      this.#response.off('close', onClose);
      answers
        .leave(execution, this.#id)
        .catch((err: unknown) => log.debug({ err }, 'an answer counts as waited for although its client has left'));
    }
  }

  async #handlePart(part: AnswerPart | undefined): Promise<'answered' | 'free' | 'more' | 'later'> {
    if (!part || part.state === 'cancelled' || part.state === 'gone') {
      if (this.#head) throw new RouterError('worker_lost', 'The execution that made the answer was lost.');
      return 'free';
    }
    if (part.isLost) throw answerNotKeptError();
    if (!this.#head) {
      if (!part.head || !part.facts) return part.state === 'running' ? 'later' : 'free';
      this.#followed.assertSameRequest(part.facts);
      this.#skipSeenEvents(part, part.head);
      this.#begin(part.head);
      this.#head = part.head;
      // The next read returns the events after `#last`.
      if (this.#last >= 0) return 'more';
    }
    const isEnd = part.state !== 'running';
    if (part.entries.length === 0) {
      if (!isEnd) return 'later';
      // If an operator has removed the events by hand, or the client names an event that never existed, nothing can be sent.
      if (this.#last !== part.next - 1) throw answerNotKeptError();
      if (part.state === 'cut') this.#response.destroy();
      else this.#response.end();
      return 'answered';
    }
    await this.#send(part.entries);
    return 'more';
  }

  /** @throws RouterError if the event that the client has seen does not belong to this execution */
  #skipSeenEvents({ number, next, state }: AnswerPart, { isEvents }: AnswerHead): void {
    const { after } = this.#followed;
    if (after === undefined) return;
    const param = 'last-event-id';
    if (!isEvents) throw new RouterError('invalid_value', 'The answer is not a stream of events.', { param });
    const last = after - number * eventNumberStride;
    if (last < 0) throw answerNotKeptError();
    if (last >= eventNumberStride || (state !== 'running' && last >= next)) {
      const message = `The answer has ended before the event ${after}.`;
      throw new RouterError('invalid_value', message, { param });
    }
    this.#last = last;
  }

  #begin({ status, headers, requestId }: AnswerHead): void {
    for (const [name, value] of Object.entries(headers)) this.#response.setHeader(name, value);
    this.#response.setHeader('idempotent-replayed', 'true');
    this.#response.setHeader('original-request', requestId);
    this.#response.writeHead(status);
    this.#response.flushHeaders();
    this.#writtenAt = performance.now();
  }

  async #send(entries: readonly AnswerPiece[]): Promise<void> {
    const sent = entries.map(({ bytes, last }) => {
      const unseen = this.#head?.isEvents === true ? selectEventsAfter(bytes, last, this.#last) : bytes;
      this.#last = last;
      return unseen;
    });
    this.#writtenAt = performance.now();
    if (!this.#response.write(Buffer.concat(sent))) await waitForDrain(this.#response, this.#parts.unreadMs);
  }

  #keepAlive(): void {
    if (this.#head?.isEvents !== true || performance.now() - this.#writtenAt < this.#parts.keepAliveMs) return;
    this.#writtenAt = performance.now();
    this.#response.write(this.#keepAliveText);
  }

  #endWithError(error: RouterError): void {
    if (this.#head?.isEvents !== true) return void this.#response.destroy();
    const { openStream } = this.#followed.format;
    this.#response.end(
      openStream({ requestId: getRequestContext(this.#response).requestId, nextEvent: this.#last + 1 }).errorEvent(
        error,
      ),
    );
  }
}

/** Returns the error for a request whose answer, or the requested part of the answer, is not kept. */
export function answerNotKeptError(): RouterError {
  const message =
    'The answer to the request with this Idempotency-Key, or its part after the event, is not kept. Use a new key to have the request executed again.';
  return new RouterError('answer_not_kept', message, { param: 'idempotency-key' });
}
