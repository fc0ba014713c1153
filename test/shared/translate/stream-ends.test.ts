import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { recordedStream, runRecorded, runStream } from './run-stream.ts';
import { clientsOf, translationBetween } from './translation-between.ts';
import { chatChunk, messageBlock, messageEnd, messageStart, responseEnd } from './upstream-streams.ts';
import { errorWith } from '../../helpers/error-with.ts';

const answerContext = { id: 'resp_1', model: 'm', created: 1, promptTokens: () => 1 };
type Events = readonly (object | string)[];
type Ends = Readonly<Record<string, [events: Events, outcome: string]>>;
type Wholes = Readonly<Record<string, [body: JsonObject, code: string]>>;

const chat = chatChunk({ content: 'a' });
const message = [messageStart, messageBlock(0, { type: 'text', text: 'a' })[0] ?? {}];
const begun = { id: 'r', status: 'in_progress', output: [] };
const response = [{ type: 'response.created', sequence_number: 0, response: begun }];
const overflow =
  "This model's maximum context length is 10 tokens. However, your request has 20 input tokens. Please reduce it.";
const overload = { type: 'error', error: { type: 'overloaded_error', message: 'x' } };

/** Streams that fail, by upstream, each with the error code. */
const failures: Record<string, Ends> = {
  chat: {
    'stops early': [[chat], 'upstream_failed'],
    'says nothing': [['[DONE]'], 'upstream_failed'],
    'closes at once': [[], 'upstream_failed'],
    'is not JSON': [[chat, '{"id":'], 'upstream_failed'],
    'is not an object': [[chat, '7'], 'upstream_failed'],
    'sends an error event': [[chat, { error: { message: 'no memory', type: 'x', code: 500 } }], 'upstream_failed'],
    'sends an error text': [[chat, { error: 'no memory' }], 'upstream_failed'],
    'was aborted inside': [[chat, chatChunk({}, 'abort')], 'upstream_failed'],
    'has no room': [[{ error: { message: overflow, code: 400 } }], 'context_length_exceeded'],
  },
  messages: {
    'stops early': [message, 'upstream_failed'],
    'says nothing': [[], 'upstream_failed'],
    'is not JSON': [[messageStart, '{"type":"content_block_delta",'], 'upstream_failed'],
    'breaks down': [[messageStart, { type: 'error', error: { type: 'api_error', message: 'x' } }], 'upstream_failed'],
    'is overloaded': [[messageStart, overload], 'overloaded'],
  },
  responses: {
    'stops early': [response, 'upstream_failed'],
    'says nothing': [[], 'upstream_failed'],
    'is not JSON': [[...response, '{'], 'upstream_failed'],
    'is overloaded': [[...response, { type: 'error', code: 'server_is_overloaded', message: 'x' }], 'overloaded'],
  },
};

/** Whole answers that are failures, by upstream, each with the error code. */
const wholeFailures: Record<string, Wholes> = {
  chat: {
    'has no choices': [{ choices: [] }, 'upstream_failed'],
    'has no message': [{ choices: [{ finish_reason: 'stop' }] }, 'upstream_failed'],
    'is an error': [{ error: { message: 'x' } }, 'upstream_failed'],
    'was aborted': [{ choices: [{ message: { content: 'a' }, finish_reason: 'abort' }] }, 'upstream_failed'],
  },
  messages: {
    'has no content': [{}, 'upstream_failed'],
    'is an error': [overload, 'overloaded'],
  },
  responses: {
    'has no output': [{ status: 'completed' }, 'upstream_failed'],
    'has failed': [
      { status: 'failed', error: { code: 'context_length_exceeded', message: 'No.' }, output: [] },
      'context_length_exceeded',
    ],
  },
};

/** Streams that end well, by upstream and the upstream's finish reason, each with the router's finish reason. */
const reasons: Record<string, Ends> = {
  chat: Object.fromEntries(
    ['stop', 'length', 'content_filter'].map((reason) => [reason, [[chat, chatChunk({}, reason)], reason]]),
  ),
  messages: Object.fromEntries(
    Object.entries({
      end_turn: 'stop',
      stop_sequence: 'stop',
      pause_turn: 'stop',
      max_tokens: 'length',
      model_context_window_exceeded: 'length',
      refusal: 'content_filter',
    }).map(([reason, end]) => [reason, [[messageStart, ...messageEnd(reason)], end]]),
  ),
  responses: {
    completed: [[...response, responseEnd()], 'stop'],
    max_output_tokens: [[...response, incomplete('max_output_tokens')], 'length'],
    content_filter: [[...response, incomplete('content_filter')], 'content_filter'],
  },
};

function incomplete(reason: string): object {
  return responseEnd({ status: 'incomplete', incomplete_details: { reason } });
}

/** The finish fields that clients receive, by the router's finish reason. */
const words: Record<string, Record<string, RegExp>> = {
  chat: {
    stop: /"finish_reason":"stop"/,
    length: /"finish_reason":"length"/,
    content_filter: /"finish_reason":"content_filter"/,
  },
  messages: {
    stop: /"stop_reason":"end_turn"/,
    length: /"stop_reason":"max_tokens"/,
    content_filter: /"stop_reason":"refusal"/,
  },
  responses: {
    stop: /response\.completed.*"status":"completed"/,
    length: /response\.incomplete.*"incomplete_details":\{"reason":"max_output_tokens"/,
    content_filter: /response\.incomplete.*"incomplete_details":\{"reason":"content_filter"/,
  },
};

const pairs = ['chat', 'messages', 'responses'].flatMap((upstream) =>
  clientsOf(upstream).map((client) => [client, upstream] as const),
);

describe.each(pairs)('a stream to a %s client from a %s upstream', (client, upstream) => {
  const run = (events: Events) => runStream(translationBetween(client, upstream).createStream(answerContext), events);

  it.each(Object.entries(failures[upstream] ?? {}))('fails when the upstream %s', (_, [events, code]) => {
    expect(() => run(events)).toThrow(errorWith(code));
  });

  it.each(Object.entries(reasons[upstream] ?? {}))(
    "that ends with %s reports that in the client's terms",
    (_, [events, end]) => {
      const { text, ending } = run(events);
      expect(ending.finishReason).toBe(end);
      if (client !== upstream || client === 'chat')
        expect(text.replaceAll('\n', ' ')).toMatch(words[client]?.[end] ?? '');
    },
  );
});

describe.each(pairs)('a whole answer to a %s client from a %s upstream', (client, upstream) => {
  it.each(Object.entries(wholeFailures[upstream] ?? {}))('fails if the upstream %s', (_, [body, code]) => {
    expect(() => translationBetween(client, upstream).translateReply(body, answerContext)).toThrow(errorWith(code));
  });
});

it.each(clientsOf('responses'))('a recorded stream to a %s client fails when it ends early', (client) => {
  const bytes = recordedStream('providers/openai-responses', 'words');
  const cut = bytes.subarray(0, bytes.indexOf('event: response.completed'));
  const stream = translationBetween(client, 'responses').createStream(answerContext);
  expect(() => runRecorded(stream, cut)).toThrow(/before its answer/);
});
