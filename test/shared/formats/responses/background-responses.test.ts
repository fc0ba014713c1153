import { describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { backgroundResponses as shape } from '#shared/formats/responses/background-responses.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { ResponsesStream } from '#shared/formats/responses/responses-stream.ts';

const read = (fields: object, operation: 'generate' | 'count_tokens' = 'generate') =>
  responsesFormat.read(Buffer.from(JSON.stringify({ model: 'm', input: 'hi', ...fields })), operation);

function queuedOf(fields: object = {}): JsonObject {
  const queued = read({ background: true, ...fields }).background?.queuedAnswer('resp_1');
  if (!queued) throw new Error('it is not in the background');
  return queued;
}

function event(type: string, number: number, fields: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...fields })}\n\n`;
}

/** Returns the type and number of each event. */
function kindsOf(events: string): unknown[] {
  return events
    .split(/(?<=\n\n)/)
    .filter((text) => text !== '')
    .map((text) => {
      const data: unknown = JSON.parse(/data: (.*)/.exec(text)?.[1] ?? '');
      return isJsonObject(data) && [data['type'], data['sequence_number']];
    });
}

describe('a request for a response in the background', () => {
  it('with a window of hours has low priority, also when it is served', () => {
    const tierOf = (fields: object) => read({ background: true, ...fields }).parameters.serviceTier;
    const within = (window: string | null) => ({ background_options: { completion_window: window } });
    expect([tierOf({}), tierOf(within('soonest')), tierOf(within(null))]).toEqual([undefined, undefined, undefined]);
    expect([tierOf(within('2h')), tierOf({ ...within('8h'), service_tier: 'priority' })]).toEqual(['flex', 'flex']);
    const served = read({ background: true, ...within('8h') }).background?.body();
    expect(responsesFormat.read(served ?? Buffer.of(), 'generate').parameters.serviceTier).toBe('flex');
  });

  it('is served as a streamed request in the foreground', () => {
    const asked = read({ background: true, metadata: { a: 'b' } });
    const body = asked.background?.body().toString() ?? '';
    expect(JSON.parse(body)).toEqual({ model: 'm', input: 'hi', metadata: { a: 'b' }, stream: true });
    expect(read({ background: false }).background).toBeUndefined();
    expect(read({ stream: true }).background).toBeUndefined();
    expect(read({ background: true }, 'count_tokens').background).toBeUndefined();
  });

  it('is answered with the object of a queued response', () => {
    const asked = { instructions: 'Be brief.', previous_response_id: 'resp_0' };
    const own = { id: 'resp_1', object: 'response', status: 'queued', background: true, store: true };
    expect(queuedOf(asked)).toMatchObject({ ...own, ...asked, output: [], usage: null, error: null });
  });
});

describe('the stream of a response in the background', () => {
  it("has the worker's events after its own opening, with continued numbers", () => {
    const stream = new ResponsesStream({ requestId: 'r', answerId: 'resp_1', nextEvent: 3 });
    const opening = event('response.created', 0) + event('response.in_progress', 1);
    const pieces = [opening + event('response.output_item.added', 2), event('response.output_text.delta', 3)];
    const written = pieces.map((piece, at) => Buffer.from(stream.relay(Buffer.from(piece), at === 1)).toString());
    expect(kindsOf(written.join(''))).toEqual([
      ['response.output_item.added', 3],
      ['response.output_text.delta', 4],
    ]);
  });

  it('can be read from any event on', () => {
    const events = [3, 4, 5].map((number) => event('response.output_text.delta', number)).join('');
    expect(shape.findLastNumber(events)).toBe(5);
    expect(shape.findLastNumber(event('response.created', 0))).toBe(0);
    expect(kindsOf(shape.selectEventsAfter(events, 4))).toEqual([['response.output_text.delta', 5]]);
    expect(shape.selectEventsAfter(events, 5)).toBe('');
    expect(kindsOf(shape.selectEventsAfter(events, -1))).toHaveLength(3);
  });

  it.each(['completed', 'incomplete', 'failed'])('has the end event response.%s found at any position', (status) => {
    const delta = event('response.output_text.delta', 3, { delta: `event: response.${status}` });
    const response = { id: 'resp_1', status, created_at: 1, background: false };
    const end = event(`response.${status}`, 4, { response });
    expect(shape.findEndOffset(delta)).toBe(-1);
    expect(shape.findEndOffset(end)).toBe(0);
    expect(shape.findEndOffset(delta + end)).toBe(delta.length);
    const queued = queuedOf({ previous_response_id: 'resp_0' });
    const ending = shape.readEnding(end, queued);
    const { created_at, previous_response_id } = queued;
    const answer = { status, background: true, store: true, previous_response_id, created_at };
    expect(ending).toMatchObject({ state: status, last: 4, answer });
    expect(kindsOf(ending?.events ?? '')).toEqual([[`response.${status}`, 4]]);
    expect(shape.readEnding(delta, queued)).toBeUndefined();
    expect(shape.readEnding(`event: response.${status}\ndata: {"broken\n\n`, queued)).toBeUndefined();
  });

  it('reports why the response failed', () => {
    const failure = shape.writeFailureEvent(new RouterError('worker_lost', 'It was lost.'), queuedOf(), 7);
    const answer = { status: 'failed', error: { code: 'server_error', message: 'It was lost.' } };
    expect(failure).toMatchObject({ state: 'failed', last: 7, answer });
    expect(kindsOf(failure.events)).toEqual([['response.failed', 7]]);
    expect(kindsOf(shape.writeBrokenEvent({ code: 'c', message: 'm' }, 8))).toEqual([['error', 8]]);
  });
});
