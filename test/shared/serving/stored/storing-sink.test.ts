import { expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { ResponseEvents } from '#shared/formats/responses/event-numbers.ts';
import { storedResponses } from '#shared/formats/responses/stored-responses.ts';
import type { StorableAnswer } from '#shared/formats/stored-answers.ts';
import { ReshapedSink } from '#shared/serving/reshaped-sink.ts';
import { AnswerStorer } from '#shared/serving/stored/answer-storer.ts';
import { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';
import { createStoringSink, StoringSink } from '#shared/serving/stored/storing-sink.ts';
import { callerOf, modelSink } from '../../../helpers/serving/serving-parts.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { until } from '../../../helpers/until.ts';

const output = [{ type: 'message', content: 'event: response.completed' }];
const response = { id: 'resp_1', status: 'completed', output };

/** The events of an answer: a text that looks like the last event, then the last event. */
function stream(last: object = response, type = 'completed'): string {
  const events = new ResponseEvents();
  const delta = events.write('response.output_text.delta', { delta: '\nevent: response.completed\ndata: {}\n\n' });
  return delta + events.write(`response.${type}`, { response: last as JsonObject });
}

/** A sink, and what it has passed on. */
function open({ stream = true, isGone = false } = {}) {
  const sent: string[] = [];
  const stored: JsonObject[] = [];
  const release = Promise.withResolvers<void>();
  const inner = modelSink({
    data: (bytes) => void sent.push(Buffer.from(bytes).toString()),
    keepAlive: () => void sent.push('(keep-alive)'),
    end: (bytes) => void sent.push(Buffer.from(bytes).toString(), '(end)'),
    fail: ({ code }) => void sent.push(`(${code})`),
  });
  const store = ({ answer, text }: StorableAnswer): Promise<void> => {
    expect(JSON.parse(Buffer.from(text).toString())).toEqual(answer);
    stored.push(answer);
    return release.promise;
  };
  const counts = { tooLarge: 0, noRoom: 0 };
  const sink = new StoringSink(inner, {
    format: storedResponses,
    stream,
    isGone: () => isGone,
    store,
    room: new StoreQueueBudget(40_000_000).openShare('ada'),
    onTooLarge: () => void (counts.tooLarge += 1),
    onNoRoom: () => void (counts.noRoom += 1),
  });
  return {
    sink,
    sent,
    stored,
    counts,
    release: () => release.resolve(),
    /** Ends the answer, and waits until its client has all of it. */
    end: async (last: Uint8Array | string = ''): Promise<void> => {
      sink.end(Buffer.from(last));
      await until(() => sent.at(-1) === '(end)');
    },
  };
}

it.each([1, 7, 50, 100_000])(
  'an answer that is stored passes its stream unchanged in pieces of %i bytes, its last event once it is stored',
  async (size) => {
    const whole = Buffer.from(stream());
    const { sink, sent, stored, release } = open();
    for (let at = 0; at < whole.length; at += size) {
      const piece = Buffer.from(whole.subarray(at, at + size));
      sink.data(piece);
      // The broker reuses its memory.
      piece.fill(0);
    }
    sink.end(Buffer.alloc(0));
    await until(() => stored.length > 0);
    expect(stored).toEqual([response]);
    expect(sent.join('')).not.toContain('"status"');
    release();
    await until(() => sent.at(-1) === '(end)');
    expect(sent.join('')).toBe(`${stream()}(end)`);
  },
);

it('an answer that is stored is found in the last bytes of a stream, even if they begin within the event', async () => {
  const whole = stream(response, 'incomplete');
  const cut = whole.lastIndexOf('event: response.') + 9;
  for (const at of [0, cut]) {
    const { sink, sent, stored, release, end } = open();
    if (at > 0) sink.data(Buffer.from(whole.slice(0, at)));
    release();
    await end(whole.slice(at));
    expect(stored).toEqual([response]);
    expect(sent.join('')).toBe(`${whole}(end)`);
  }
});

it('an answer that is stored is read whole if it is not streamed', async () => {
  const { sent, stored, release, end } = open({ stream: false });
  release();
  await end(JSON.stringify(response));
  expect(stored).toEqual([response]);
  expect(sent).toEqual([JSON.stringify(response), '(end)']);
});

it.each([
  ['that failed', stream({ id: 'resp_1', status: 'failed' }, 'failed')],
  ['whose response is not complete', stream({ id: 'resp_1', status: 'in_progress' })],
  ['without a last event', stream().split('\n\n')[0] + '\n\n'],
  ['that cannot be read', stream().slice(0, -20)],
])('an answer is not stored %s', async (_, text) => {
  const { sink, sent, stored, end } = open();
  sink.data(Buffer.from(text));
  await end();
  expect(stored).toEqual([]);
  expect(sent.join('')).toBe(`${text}(end)`);
});

it('an answer is not stored if its client has left', async () => {
  const { stored, end } = open({ isGone: true });
  await end(stream());
  expect(stored).toEqual([]);
});

it('an answer is not stored if the job fails after the last event, which is not sent then', () => {
  const { sink, sent, stored } = open();
  sink.data(Buffer.from(stream()));
  sink.fail(new RouterError('worker_lost', 'The worker is gone.'));
  expect(stored).toEqual([]);
  expect(sent.at(-1)).toBe('(worker_lost)');
  expect(sent.join('')).not.toContain('"status"');
});

it('an answer is not stored if it is too long to be held: it passes, and is counted', async () => {
  const long = stream({ ...response, text: 'x'.repeat(9 * 1024 * 1024) });
  const { sink, sent, stored, counts, end } = open();
  for (let at = 0; at < long.length; at += 512 * 1024) sink.data(Buffer.from(long.slice(at, at + 512 * 1024)));
  await end();
  expect(stored).toEqual([]);
  expect(sent.join('') === `${long}(end)`).toBe(true);
  expect(counts).toEqual({ tooLarge: 1, noRoom: 0 });
});

/** Streams through the `AnswerStorer` of a process. The test decides when the store has stored an answer. */
function openStorer(maxBytes: number) {
  const stored: string[] = [];
  const release = Promise.withResolvers<'kept'>();
  const store: ConstructorParameters<typeof AnswerStorer>[0]['store'] = (_, { id }) => {
    stored.push(id);
    return release.promise;
  };
  const storer = new AnswerStorer({ store }, silentLog, maxBytes);
  const begin = (id: string) => {
    const sent: string[] = [];
    const inner = modelSink({
      data: (bytes) => void sent.push(Buffer.from(bytes).toString()),
      end: (bytes) => void sent.push(Buffer.from(bytes).toString(), '(end)'),
    });
    const toStore = { input: [], previous: undefined };
    const sink = createStoringSink(inner, callerOf(), { format: storedResponses, stream: true, toStore, storer });
    const text = stream({ ...response, id, text: 'x'.repeat(900) });
    sink.data(Buffer.from(text));
    return { sink, text, sent, end: () => sink.end(Buffer.alloc(0)) };
  };
  return { storer, stored, release: () => release.resolve('kept'), begin };
}

it('a streamed answer takes its bytes once while it is held and stored, and gives them back', async () => {
  const { storer, stored, release, begin } = openStorer(1_500);
  const first = begin('resp_1');
  first.end();
  await until(() => stored.length > 0);
  expect(storer.queueBudget.taken).toBeGreaterThan(900);
  const second = begin('resp_2');
  second.end();
  await until(() => second.sent.at(-1) === '(end)');
  expect(second.sent.join('')).toBe(`${second.text}(end)`);
  expect([stored, storer.counts]).toEqual([['resp_1'], { stored: 0, too_large: 0, failed: 1 }]);
  release();
  await until(() => first.sent.at(-1) === '(end)');
  expect(first.sent.join('')).toBe(`${first.text}(end)`);
  expect([storer.queueBudget.taken, storer.counts.stored]).toEqual([0, 1]);
});

it('an answer that fails while it is held gives its bytes back', async () => {
  const { storer, stored, release, begin } = openStorer(1_500);
  begin('resp_1').sink.fail(new RouterError('worker_lost', 'The worker is gone.'));
  release();
  const next = begin('resp_2');
  next.end();
  await until(() => next.sent.at(-1) === '(end)');
  expect([stored, storer.queueBudget.taken]).toEqual([['resp_2'], 0]);
});

it('the memory of what an answer keeps is reserved by the sink that sends it', () => {
  const held: unknown[] = [];
  const inner = modelSink({ hold: (...holding) => void held.push(holding) });
  const toStore = { input: [], previous: undefined };
  const storer = new AnswerStorer({ store: () => Promise.resolve('kept') }, silentLog);
  createStoringSink(inner, callerOf(), { format: storedResponses, stream: true, toStore, storer }).hold?.(7, 'process');
  new ReshapedSink(inner, (answer) => answer).hold(8, 'owner');
  expect(held).toEqual([
    [7, 'process'],
    [8, 'owner'],
  ]);
});
