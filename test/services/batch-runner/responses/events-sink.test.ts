import { expect, it } from 'vitest';
import { EventsSink } from '#services/batch-runner/responses/events-sink.ts';
import { LineMemory } from '#services/batch-runner/lines/line-memory.ts';
import { MemoryBudget } from '#shared/core/memory-budget.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { errorWith } from '../../../helpers/error-with.ts';

function openSink(answerBudget = new MemoryBudget(Infinity)) {
  const { background: backgroundFormat } = responsesFormat;
  if (!backgroundFormat) throw new Error('the format has no responses in the background');
  const written: string[] = [];
  const hold = (): void => undefined;
  const answer = responsesFormat.openStream({ requestId: 'r', answerId: 'resp_1', nextEvent: 2 });
  const memory = new LineMemory(answerBudget);
  const parts = { answer, backgroundFormat, write: (events: string) => void written.push(events), memory, hold };
  return { sink: new EventsSink(parts), written, memory };
}

const delta = 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"a"}\n\n';
const end = 'event: response.completed\ndata: {"type":"response.completed","response":{"status":"completed"}}\n\n';

it('the event that ends a stream is held back, and the others are written', async () => {
  const { sink, written } = openSink();
  sink.data(Buffer.from(delta));
  for (const byte of Buffer.from(end)) sink.data(Buffer.from([byte]));
  sink.end(Buffer.alloc(0));
  expect(written.join('')).toContain('"delta":"a"');
  expect(written.join('')).not.toContain('response.completed');
  expect(await sink.ended).toMatchObject({ event: expect.stringContaining('response.completed') });
});

it('an end that is followed by bytes without end is refused', () => {
  const { sink } = openSink();
  sink.data(Buffer.from(end));
  const events = Buffer.from(delta.repeat(100_000));
  const sendAll = (): void => {
    for (let pieces = 0; pieces < 10; pieces += 1) sink.data(events);
  };
  expect(sendAll).toThrow(errorWith('upstream_failed'));
});

it('the event that ends a stream takes memory of all answers of the process, and at most half of it', async () => {
  const budget = new MemoryBudget(1_000_000);
  const endWith = async (bytes: number) => {
    const { sink, memory } = openSink(budget);
    sink.data(Buffer.from(end.replace('completed"}', `completed","text":"${'x'.repeat(bytes)}"}`)));
    sink.end(Buffer.alloc(0));
    return { ended: await sink.ended, memory };
  };
  expect((await endWith(500_000)).ended).toMatchObject({ error: { code: 'upstream_failed' } });
  const first = await endWith(450_000);
  await endWith(450_000);
  expect(first.ended).toMatchObject({ event: expect.stringContaining('xxx') });
  expect((await endWith(450_000)).ended).toMatchObject({ error: { code: 'overloaded' } });
  first.memory.release();
  expect((await endWith(450_000)).ended).toMatchObject({ event: expect.stringContaining('xxx') });
});
