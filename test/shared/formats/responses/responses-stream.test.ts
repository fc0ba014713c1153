import OpenAI7 from 'openai';
import OpenAI6 from 'openai-6';
import { describe, expect, it } from 'vitest';
import { RouterError, errorTable, type ErrorCode } from '#shared/core/errors.ts';
import { noUsage } from '#shared/core/usage.ts';
import { readOpeningFields } from '#shared/formats/responses/response-object.ts';
import { ResponsesStream } from '#shared/formats/responses/responses-stream.ts';
import { toRecalledRequest } from '#shared/translate/responses/recalled-request.ts';
import { ResponsesAnswerWriter } from '#shared/translate/responses/responses-answer-writer.ts';
import { sdkAnswer } from '../../../helpers/clients/sdk-answer.ts';
import { responseEvents } from '../../translate/responses/assemble-response.ts';
import { findEventNumber } from '#shared/formats/responses/event-numbers.ts';

const request = { model: 'auto', input: 'hi', metadata: { ticket: '12' } };
const opening = { requestId: 'req_1', answerId: 'resp_1', repeated: readOpeningFields(request) };

const writeAnswer = () =>
  new ResponsesAnswerWriter({ id: 'resp_1', model: 'm', created: 7, recalled: toRecalledRequest(request) });

/** The pieces of a worker's stream: the opening with the first text, three more texts, and the end. */
function workerPieces(): Buffer[] {
  const answer = writeAnswer();
  const texts = ['One', ' "sequence_number":7,', '{\\"', ' three'];
  const begin = answer.begin();
  const [first = '', ...others] = texts.map((text) => answer.addText(text));
  const end = answer.finish({ finishReason: 'stop', usage: noUsage });
  return [begin + first, ...others, end].map((text) => Buffer.from(text));
}

/** Returns the client's stream, with a keep-alive before each piece at one of the positions. */
function relay(keepAlivesBefore: readonly number[]): string {
  const stream = new ResponsesStream(opening);
  let text = '';
  for (const [at, piece] of whole.entries()) {
    for (const place of keepAlivesBefore) if (place === at) text += stream.keepAlive();
    text += Buffer.from(stream.relay(piece, at === whole.length - 1)).toString();
  }
  return text;
}

function numbers(text: string): number[] {
  return responseEvents(text).map(({ sequence_number: number }) => number);
}

const whole = workerPieces();
const plain = Buffer.concat(whole).toString();

describe('a relayed Responses stream', () => {
  it("has the worker's bytes if the router added nothing", () => {
    const stream = new ResponsesStream(opening);
    for (const piece of whole) expect(stream.relay(piece)).toEqual(piece);
  });

  it.each([
    ['before the first event', [0]],
    ['three times before the first event', [0, 0, 0]],
    ['within the answer', [1]],
    ['everywhere', [0, 0, 1, 2, 2, 3]],
    ['before the end', [whole.length - 1]],
  ])('has rising numbers with keep-alives %s, and is valid for the SDKs', async (_, places) => {
    const text = relay(places);
    expect(numbers(text)).toEqual(numbers(text).map((__, at) => at));
    const types = responseEvents(text).map(({ type }) => type);
    expect(types.filter((type) => type === 'response.created')).toHaveLength(1);
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress']);
    const withoutAdded = responseEvents(text)
      .slice(2)
      .filter(({ type }) => !/in_progress|keepalive/.test(type));
    const fields = ({ sequence_number: _number, ...event }: { sequence_number: number }): object => event;
    expect(withoutAdded.map(fields)).toEqual(responseEvents(plain).slice(2).map(fields));
    for (const Client of [OpenAI7, OpenAI6 as unknown as typeof OpenAI7]) {
      const runner = new Client(sdkAnswer(text)).responses.stream({ model: 'm', input: 'hi' });
      expect((await runner.finalResponse()).output_text).toBe('One "sequence_number":7,{\\" three');
    }
  });

  it.each([1, 7, 100, 1_000])('consists of whole events if they arrive in pieces of %i bytes', (size) => {
    const bytes = Buffer.from(plain);
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    const stream = new ResponsesStream(opening);
    let text = '';
    for (const [at, piece] of pieces.entries()) {
      const written = Buffer.from(stream.relay(piece)).toString();
      expect(written === '' || written.endsWith('\n\n')).toBe(true);
      text += written;
      if (at % 5 === 4) text += stream.keepAlive();
    }
    expect(numbers(text)).toEqual(numbers(text).map((_, at) => at));
    expect(text.match(/"delta":"(?:[^"\\]|\\.)*"/g)).toEqual(plain.match(/"delta":"(?:[^"\\]|\\.)*"/g));
  });

  it('ends with the rest of the stream, even without its last line break', () => {
    const stream = new ResponsesStream(opening);
    const piece = Buffer.from(plain.trimEnd());
    expect(Buffer.from(stream.relay(piece, true)).toString()).toBe(plain.trimEnd());
  });

  it('keeps a piece whose memory is reused', () => {
    const stream = new ResponsesStream(opening);
    const memory = Buffer.from(Buffer.concat(whole.slice(0, 2)));
    stream.relay(memory);
    memory.fill(0);
    expect(responseEvents(stream.keepAlive())[0]).toMatchObject({ type: 'keepalive', sequence_number: 6 });
  });

  it('repeats short fields of the request in its opening, and the id of the answer', () => {
    const tools = [{ type: 'function', name: 'f', description: 'x'.repeat(5_000) }];
    const repeated = readOpeningFields({ ...request, tools, instructions: 'Be brief.' });
    const events = responseEvents(new ResponsesStream({ ...opening, repeated }).keepAlive());
    expect(events.map(({ response }) => response)).toEqual([events[0]?.['response'], events[0]?.['response']]);
    const own = { id: 'resp_1', object: 'response', status: 'in_progress', model: 'auto', output: [] };
    const asked = { metadata: { ticket: '12' }, instructions: 'Be brief.', tools: [] };
    expect(events[0]?.['response']).toMatchObject({ ...own, ...asked });
  });

  it('has an estimate of the relayed tokens', () => {
    const answer = writeAnswer();
    const stream = new ResponsesStream(opening);
    stream.relay(Buffer.from(answer.begin()));
    for (let at = 0; at < 500; at++) stream.relay(Buffer.from(answer.addText('word ')));
    expect(stream.tokens).toBeGreaterThan(400);
    expect(stream.tokens).toBeLessThan(600);
  });
});

describe('a Responses stream that fails', () => {
  const lost = new RouterError('worker_lost', 'The worker was lost.');

  it('opens and then fails if nothing was sent before', () => {
    const error = { code: 'server_error', message: 'The worker was lost.' };
    expect(responseEvents(new ResponsesStream(opening).errorEvent(lost))).toMatchObject([
      { type: 'response.created', sequence_number: 0 },
      { type: 'response.in_progress', sequence_number: 1 },
      { type: 'response.failed', sequence_number: 2, response: { id: 'resp_1', status: 'failed', error } },
    ]);
  });

  it.each([0, 1])('drops half an event midway, after %i keep-alives, and continues its numbers', (keepAlives) => {
    const stream = new ResponsesStream(opening);
    let text = keepAlives === 1 ? stream.keepAlive() : '';
    text += Buffer.from(stream.relay(whole[0] ?? Buffer.alloc(0))).toString();
    text += Buffer.from(stream.relay((whole[1] ?? Buffer.alloc(0)).subarray(0, 20))).toString();
    text += stream.errorEvent(lost);
    expect(numbers(text)).toEqual(numbers(text).map((_, at) => at));
    expect(responseEvents(text).at(-1)?.type).toBe('response.failed');
  });

  it.each([
    ['context_length_exceeded', 'context_length_exceeded'],
    ['insufficient_quota', 'insufficient_quota'],
    ['workers_died', 'invalid_prompt'],
    ['unsupported_parameter', 'invalid_prompt'],
    ['queue_timeout', 'server_is_overloaded'],
    ['upstream_failed', 'server_error'],
    ['token_limit_exceeded', 'rate_limit_exceeded'],
  ] as const)('with %s has the code %s', (code, failed) => {
    const events = responseEvents(new ResponsesStream(opening).errorEvent(new RouterError(code, 'Why.')));
    expect(events.at(-1)?.['response']).toMatchObject({ error: { code: failed, message: 'Why.' } });
  });

  it('for a limit names the wait in the wording that Codex reads', () => {
    const limited = new RouterError('rate_limit_exceeded', 'Too many requests.', { retryAfter: 2.2 });
    const events = responseEvents(new ResponsesStream(opening).errorEvent(limited));
    const error = { message: 'Too many requests. Please try again in 3s.' };
    expect(events.at(-1)?.['response']).toMatchObject({ error });
  });

  it('begins with status 200 only if clients would repeat a request with the error status many times', () => {
    const opened = (Object.keys(errorTable) as ErrorCode[]).filter((code) =>
      new ResponsesStream(opening).opensToFail(new RouterError(code, '')),
    );
    expect(opened).toEqual(expect.arrayContaining(['workers_died', 'queue_timeout', 'internal', 'store_unavailable']));
    const statuses = new Set(opened.map((code) => errorTable[code].status));
    expect([400, 401, 403, 404, 429].filter((status) => statuses.has(status as 500))).toEqual([]);
  });
});

describe('the number of an event', () => {
  it.each([
    ['first', { sequence_number: 12, type: 'a' }],
    ['last, after items', { type: 'a', item: { list: [1, { b: '}' }] }, sequence_number: 12 }],
    ['after the same name in an item', { item: { sequence_number: 3 }, sequence_number: 12 }],
    ['after the same name in a text', { delta: '"sequence_number":3', sequence_number: 12 }],
    ['after a text that ends with backslashes', { delta: String.raw`a\\\"`, text: '\\', sequence_number: 12 }],
    ['after a field with that value', { type: 'sequence_number', sequence_number: 12 }],
  ])('is found in an event %s', (_, data) => {
    for (const json of [JSON.stringify(data), JSON.stringify(data, null, 1).replaceAll('\n', ' ')]) {
      const event = `event: a\ndata: ${json}\n\n`;
      const place = findEventNumber(event);
      expect(place?.value).toBe(12);
      const changed = event.slice(0, place?.start) + '13' + event.slice(place?.end);
      expect(JSON.parse(changed.slice(changed.indexOf('{')))).toEqual({ ...data, sequence_number: 13 });
    }
  });

  it.each([
    ['none', 'data: {"type":"a"}\n\n'],
    ['one in an item only', 'data: {"item":{"sequence_number":3}}\n\n'],
    ['a comment', ': keep-alive\n\n'],
    ['no data', ''],
  ])('is not found in an event with %s', (_, event) => {
    expect(findEventNumber(event)).toBeUndefined();
  });
});
