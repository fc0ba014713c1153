import { describe, expect, it } from 'vitest';
import { backgroundResponses } from '#shared/formats/responses/background-responses.ts';
import { EventWriter } from '#services/batch-runner/responses/event-writer.ts';
import { MemoryBudget } from '#shared/core/memory-budget.ts';
import { until } from '../../../helpers/until.ts';

function event(number: number, text = ''): string {
  const type = 'response.output_text.delta';
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, delta: text })}\n\n`;
}

interface Write {
  events: string;
  from: number;
  last: number;
}

/** Opens a writer and records its writes and the refusals of its store. @param keep whether the store accepts a write */
function open(keep: () => Promise<boolean> = async () => true, room = new MemoryBudget(1_000_000)) {
  const refused = { times: 0 };
  const writes: Write[] = [];
  const append = async (written: Write): Promise<boolean> => {
    const kept = await keep();
    if (kept) writes.push(written);
    return kept;
  };
  const { findLastNumber: lastNumber } = backgroundResponses;
  const writer = new EventWriter({
    next: 3,
    lastNumber,
    append,
    budget: room,
    onRefused: () => void (refused.times += 1),
  });
  return { writer, writes, refused };
}

const away = (): Promise<boolean> => Promise.reject(new Error('away'));

describe('the events of an answer', () => {
  it('are written in order, and those that arrive during a write go together', async () => {
    const { writer, writes } = open();
    for (const events of [event(3), event(4), event(5) + event(6)]) writer.write(events);
    expect(writer.next).toBe(7);
    await until(() => writes.length === 2);
    expect(writes).toEqual([
      { events: event(3), from: 3, last: 3 },
      { events: event(4) + event(5) + event(6), from: 4, last: 6 },
    ]);
    expect(await writer.close()).toBe('');
  });

  it('are neither written twice nor lost when the store was away', async () => {
    let isAway = true;
    const { writer, writes, refused } = open(() => (isAway ? away() : Promise.resolve(true)));
    writer.write(event(3));
    writer.write(event(4));
    setTimeout(() => (isAway = false), 100);
    await until(() => writes.length > 0);
    expect(writes).toEqual([{ events: event(3) + event(4), from: 3, last: 4 }]);
    expect(refused.times).toBe(0);
  });

  it('that are unwritten at the end are left to the last write', async () => {
    const { writer } = open(away);
    writer.write(event(3));
    writer.write(event(4));
    expect([await writer.close(), writer.unwritten]).toEqual([event(3) + event(4), 3]);
  });

  it('are written in parts if there are many', async () => {
    const { writer, writes } = open();
    const events = Array.from({ length: 10 }, (_, at) => event(3 + at, 'x'.repeat(30_000)));
    writer.write(events.join(''));
    await until(() => writes.at(-1)?.last === 12);
    expect(writes.map((write) => write.events).join('')).toBe(events.join(''));
    for (const write of writes) expect(write.events.length).toBeLessThan(70_000);
    expect(writes.map(({ last }) => last)).toEqual([4, 6, 8, 10, 12]);
  });

  it('stop the answer once if the store refuses them', async () => {
    const { writer, refused } = open(async () => false);
    writer.write(event(3));
    await until(() => refused.times === 1);
    writer.write(event(4));
    await writer.close();
    expect(refused.times).toBe(1);
  });

  it('stop their answer if there is no room for them while the store is away', async () => {
    const room = new MemoryBudget(500);
    const [one, other] = [open(away, room), open(away, room)];
    for (const { writer } of [one, other]) writer.write(event(3, 'x'.repeat(300)));
    expect([one.refused.times, other.refused.times]).toEqual([0, 1]);
    await Promise.all([one.writer.close(), other.writer.close()]);
    expect([room.take(500), room.take(1)]).toEqual([true, false]);
  });
});
