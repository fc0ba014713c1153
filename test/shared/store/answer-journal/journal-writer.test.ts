import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { JournalWriter, type AppendOutcome, type JournalEntry } from '#shared/store/answer-journal/journal-writer.ts';
import { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';
import { until } from '../../../helpers/until.ts';

const unending = new AbortController().signal;
const givenUp = AbortSignal.abort();

interface OpenOptions {
  /** What the store answers to a write. */
  append?: () => Promise<AppendOutcome>;
  budget?: StoreQueueBudget;
  owner?: string;
  maxBytes?: number;
}

/** Opens a writer, and records the writes that the store has confirmed. */
function open({
  append = async () => 'kept',
  budget = new StoreQueueBudget(10_000_000),
  owner = 'owner',
  maxBytes = 1_000_000,
}: OpenOptions = {}) {
  const superseded = { times: 0 };
  const writes: ReturnType<typeof show>[] = [];
  const writer = new JournalWriter({
    next: 3,
    append: async (entry) => {
      const outcome = await append();
      writes.push(show(entry));
      return outcome;
    },
    maxBytes,
    share: budget.openShare(owner),
    onSuperseded: () => void (superseded.times += 1),
  });
  return { writer, writes, superseded, add: (text: string) => writer.add(Buffer.from(text)) };
}

function show({ from, last, bytes }: JournalEntry) {
  return { from, last, text: Buffer.from(bytes ?? []).toString() };
}

const away = (): Promise<AppendOutcome> => Promise.reject(new Error('away'));

describe('the events of an answer', () => {
  it('are written in order, and those that arrive during a write go together', async () => {
    const { writer, writes, add } = open();
    for (const event of ['3;', '4;']) add(event);
    writer.add(Buffer.from('5;6;'), 6);
    expect(writer.next).toBe(7);
    await until(() => writes.length === 2);
    expect(writes).toEqual([
      { from: 3, last: 3, text: '3;' },
      { from: 4, last: 6, text: '4;5;6;' },
    ]);
    expect(await writer.close(unending)).toMatchObject({ from: 7, bytes: undefined });
  });

  it('are written although a timer fires before its time', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { writes, add } = open();
    add('3;');
    await vi.advanceTimersByTimeAsync(0);
    add('4;');
    // By the clock of `performance`, the first timer fires a millisecond early.
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() - 1);
    await vi.advanceTimersByTimeAsync(50);
    clock.mockRestore();
    await vi.advanceTimersByTimeAsync(50);
    expect(writes.map(({ text }) => text)).toEqual(['3;', '4;']);
  });

  it('are neither written twice nor lost when the store was away', async () => {
    let isAway = true;
    const { writes, add, superseded } = open({ append: () => (isAway ? away() : Promise.resolve('kept')) });
    for (const event of ['3;', '4;']) add(event);
    setTimeout(() => (isAway = false), 100);
    await until(() => writes.length === 2);
    expect(writes.map(({ text }) => text)).toEqual(['3;', '4;']);
    expect(superseded.times).toBe(0);
  });

  it('that are unwritten at the end are left to the last write', async () => {
    const { writer, add } = open({ append: away });
    for (const event of ['3;', '4;']) add(event);
    const rest = await writer.close(givenUp);
    expect(rest && show(rest)).toEqual({ from: 3, last: 4, text: '3;4;' });
  });

  it('are written to their end, however soon the end follows the answer to the previous write', async () => {
    for (let turns = 0; turns < 12; turns += 1) {
      const { promise, resolve } = Promise.withResolvers<AppendOutcome>();
      const { writer, add, writes } = open({ append: () => promise });
      writer.writeFields({});
      resolve('kept');
      // Turns of the microtask queue.
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      add('all');
      const rest = await writer.close(unending);
      expect(rest && show(rest), String(turns)).toEqual({ from: 3, last: 3, text: 'all' });
      expect(writes).toEqual([{ from: 3, last: 3, text: '' }]);
    }
  });

  it('are written in parts if there are many, before the end too', async () => {
    const { writer, writes, add } = open();
    const events = Array.from({ length: 10 }, (_, at) => String(at).repeat(60_000));
    for (const event of events) add(event);
    const rest = await writer.close(unending);
    const parts = [...writes, ...(rest ? [show(rest)] : [])];
    expect(parts.map(({ text }) => text).join('') === events.join('')).toBe(true);
    expect(parts.map(({ last }) => last)).toEqual([3, 5, 7, 9, 11, 12]);
  });

  it('are not written any more, once the store refuses them', async () => {
    const { writer, writes, superseded, add } = open({ append: async () => 'superseded' });
    add('3;');
    await until(() => superseded.times === 1);
    add('4;');
    expect(await writer.close(unending)).toBeUndefined();
    expect([superseded.times, writes.length]).toEqual([1, 1]);
  });

  it.each([
    ['are too large', { maxBytes: 5 }],
    ['find no room while they wait', { budget: new StoreQueueBudget(5) }],
  ])('that %s show a gap to the store, and no further ones are written', async (_, options) => {
    const { writer, writes, add } = open(options);
    for (const event of ['3;', '4;', '5;', '6;']) add(event);
    await until(() => writes.length === 2);
    expect(writes[1]).toEqual({ from: 7, last: 7, text: '' });
    const rest = await writer.close(unending);
    expect(rest && show(rest)).toEqual({ from: 7, last: 7, text: '' });
  });
});

it('the answers of one owner that wait to be written take half of the memory that those of others leave', async () => {
  const budget = new StoreQueueBudget(1_000);
  const never = () => new Promise<AppendOutcome>(() => undefined);
  const journals = Array.from({ length: 10 }, () => open({ budget, append: never }));
  for (const { add } of journals) add('x'.repeat(100));
  expect(budget.taken).toBe(500);
  open({ budget, append: never, owner: 'other' }).add('x'.repeat(400));
  expect(budget.taken).toBe(900);
  for (const { writer } of journals) writer.stop();
  expect(budget.taken).toBe(400);
});
