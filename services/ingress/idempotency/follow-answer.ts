import { randomUUID } from 'node:crypto';
import type { Response } from 'express';
import type { ExecutionRef } from '#shared/store/answer-journal/answer-journal.ts';
import type { AnswerHead, AnswerPart, RequestFacts } from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import { followJournal, type FollowedAnswer, type FollowParts } from '../http/follow-journal.ts';
import { getRequestContext } from '../http/request-context.ts';
import { selectEventsAfter, isKeepAlive, eventNumberStride } from './event-numberer.ts';
import type { IdempotencyParts } from './idempotency-parts.ts';

/** Milliseconds between two reads of an answer. Each read also registers that a client waits for it. */
const readIntervalMs = 1_000;

/** An answer that was begun for an earlier request with the same key. */
export interface FollowedExecution {
  execution: ExecutionRef;
  /** Id of the event that the answer continues after; undefined for the whole answer. */
  after: number | undefined;
  format: AnswerFormat;
  /** @throws RouterError if the answer belongs to a different request */
  assertSameRequest: (facts: RequestFacts) => void;
}

/**
 * Sends the answer of an execution until the answer is over or the client disconnects.
 * @returns `none` if nothing was sent, because the execution has ended without an answer
 * @throws RouterError `answer_not_kept`, `shutting_down`, `store_unavailable`; `invalid_value` for an event that does not exist; the errors
 * of `assertSameRequest`. Throws only if nothing was sent
 */
export async function followAnswer(
  response: Response,
  { execution, after, format, assertSameRequest }: FollowedExecution,
  parts: FollowParts & Pick<IdempotencyParts, 'answers' | 'outages' | 'log'>,
): Promise<'answered' | 'none'> {
  const { answers, outages, log } = parts;
  const { requestId } = getRequestContext(response);
  const follower = randomUUID();
  let isEvents = false;
  const followed: FollowedAnswer<AnswerPart> = {
    id: `${execution.owner}:${execution.id}`,
    // The first read returns the head, which shows whether the event belongs to this execution.
    after: -1,
    readIntervalMs,
    read: (last) => outages.retry(() => answers.read(execution, follower, last)),
    begin: (part) => {
      if (!part || hasNoAnswer(part)) return 'none';
      if (part.isLost) throw answerNotKeptError();
      const { head, facts } = part;
      if (!head || !facts) return part.isOver ? 'none' : 'later';
      assertSameRequest(facts);
      const last = after === undefined ? -1 : findSeenEvent(part, head, after);
      begin(response, head);
      ({ isEvents } = head);
      return last;
    },
    assertContinues: (part): asserts part => {
      if (!part || hasNoAnswer(part))
        throw new RouterError('worker_lost', 'The execution that made the answer was lost.');
      if (part.isLost) throw answerNotKeptError();
    },
    selectAfter: ({ bytes, last }, seen) => (isEvents ? selectEventsAfter(bytes, last, seen) : bytes),
    findKeepAlive: () => {
      if (!isEvents) return undefined;
      const keepAlive = format.openStream({ requestId }).keepAlive();
      return isKeepAlive(Buffer.from(keepAlive)) ? keepAlive : ': keep-alive\n\n';
    },
    end: ({ state, next }, last) => {
      // If an operator has removed the events by hand, or the client names an event that never existed, nothing can be sent.
      if (last !== next - 1) throw answerNotKeptError();
      // The last bytes are written after this turn of the event loop.
      if (state === 'cut') setImmediate(() => response.destroy());
      else response.end();
    },
    endWithError: (error, last) => {
      if (!(error instanceof RouterError)) throw error;
      if (isEvents) response.end(format.openStream({ requestId, nextEvent: last + 1 }).errorEvent(error));
      else response.destroy();
    },
  };
  try {
    return await followJournal(response, followed, parts);
  } finally {
    answers
      .leave(execution, follower)
      .catch((err: unknown) => log.debug({ err }, 'an answer counts as waited for although its client has left'));
  }
}

/** Returns whether the execution was given up, or its node has died. */
function hasNoAnswer({ state }: AnswerPart): boolean {
  return state === 'cancelled' || state === 'gone';
}

/**
 * Returns the number, counted within the execution, of the event that the client has seen.
 * @throws RouterError if the event does not belong to this execution
 */
function findSeenEvent({ number, next, isOver }: AnswerPart, { isEvents }: AnswerHead, after: number): number {
  const param = 'last-event-id';
  if (!isEvents) throw new RouterError('invalid_value', 'The answer is not a stream of events.', { param });
  const last = after - number * eventNumberStride;
  if (last < 0) throw answerNotKeptError();
  if (last >= eventNumberStride || (isOver && last >= next)) {
    const message = `The answer has ended before the event ${after}.`;
    throw new RouterError('invalid_value', message, { param });
  }
  return last;
}

function begin(response: Response, { status, headers, requestId }: AnswerHead): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('idempotent-replayed', 'true');
  response.setHeader('original-request', requestId);
  response.writeHead(status);
  response.flushHeaders();
}

/** Returns the error for a request whose answer, or the requested part of the answer, is not kept. */
export function answerNotKeptError(): RouterError {
  const message =
    'The answer to the request with this Idempotency-Key, or its part after the event, is not kept. Use a new key to have the request executed again.';
  return new RouterError('answer_not_kept', message, { param: 'idempotency-key' });
}
