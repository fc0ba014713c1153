import { isJsonObject, toObjectOrEmpty, type JsonObject } from '#shared/core/json.ts';
import { parseAnswer } from '#shared/core/has-more-values.ts';
import type { BackgroundAnswers, BackgroundRequest, EndingEvent } from '../background-answers.ts';
import { writeNamedEvent } from '../sse/encode.ts';
import { findEventNumber } from './event-numbers.ts';
import { toFailedResponseError } from './to-failed-response-error.ts';
import type { ResponsesRequest } from './request.ts';
import { readRepeatedFields, createResponseObject } from './response-object.ts';

/**
 * Matches the beginning of the event that ends a stream. The data of events is JSON without line breaks, so no line of data can match.
 */
const endingPattern = /(?:^|\n)event: response\.(?:completed|incomplete|failed)\n/;

const endingStates: ReadonlySet<unknown> = new Set(['completed', 'incomplete', 'failed']);

/** Converts a checked request to a background request. Returns undefined if the request asks for no background response. */
export function createBackgroundRequest(request: ResponsesRequest): BackgroundRequest | undefined {
  if (request.background !== true) return undefined;
  return {
    body: () => {
      const { background: _, ...rest } = request;
      return Buffer.from(JSON.stringify({ ...rest, stream: true }));
    },
    queuedAnswer: (id) =>
      createResponseObject({
        id,
        model: request.model,
        created: Math.floor(Date.now() / 1000),
        status: 'queued',
        repeated: readRepeatedFields({ ...request, store: true }),
      }),
  };
}

/** Writes background responses (OpenAI API guide, "Background mode"). */
export const backgroundResponses: BackgroundAnswers = {
  withState: (response, status) => ({ ...response, status }),
  writeQueuedEvents: (response) => ({
    events: writeEvent('response.created', 0, { response }) + writeEvent('response.queued', 1, { response }),
    last: 1,
  }),
  writeInProgressEvent: (queued, number) => ({
    events: writeEvent('response.in_progress', number, { response: { ...queued, status: 'in_progress' } }),
    last: number,
  }),
  findLastNumber: (events) => findEventNumber(events.slice(events.lastIndexOf('\n\n', events.length - 3) + 1))?.value,
  selectEventsAfter: (events, number) =>
    events
      .split(/(?<=\n\n)/)
      .filter((text) => (findEventNumber(text)?.value ?? -1) > number)
      .join(''),
  findEndOffset: (events) => {
    const at = events.search(endingPattern);
    return at > 0 ? at + 1 : at;
  },
  readEnding,
  writeFailureEvent: (error, queued, number) => {
    const answer = { ...queued, status: 'failed', error: toFailedResponseError(error) };
    return {
      state: 'failed',
      answer,
      events: writeEvent('response.failed', number, { response: answer }),
      last: number,
    };
  },
  writeBrokenEvent: ({ code, message }, number) => writeEvent('error', number, { code, message, param: null }),
};

function readEnding(text: string, queued: JsonObject): EndingEvent | undefined {
  const last = findEventNumber(text)?.value;
  const response = readResponse(text);
  const status = response?.['status'];
  if (last === undefined || !response || !isEndingState(status)) return undefined;
  const { created_at: created = null, background = true, store = true, previous_response_id: previous = null } = queued;
  const answer = { ...response, created_at: created, background, store, previous_response_id: previous };
  return { state: status, answer, events: writeEvent(`response.${status}`, last, { response: answer }), last };
}

function readResponse(text: string): JsonObject | undefined {
  const data = /(?:^|\n)data: ?(.*)/.exec(text)?.[1];
  const { response } = toObjectOrEmpty(parseAnswer(data ?? ''));
  return isJsonObject(response) ? response : undefined;
}

function isEndingState(status: unknown): status is EndingEvent['state'] {
  return endingStates.has(status);
}

function writeEvent(type: string, number: number, fields: JsonObject): string {
  return writeNamedEvent(type, JSON.stringify({ type, sequence_number: number, ...fields }));
}
