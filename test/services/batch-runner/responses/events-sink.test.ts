import { expect, it } from 'vitest';
import { EventsSink } from '#services/batch-runner/responses/events-sink.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { errorWith } from '../../../helpers/error-with.ts';

function openSink() {
  const { background: backgroundFormat } = responsesFormat;
  if (!backgroundFormat) throw new Error('the format has no responses in the background');
  const written: string[] = [];
  const hold = (): void => undefined;
  const answer = responsesFormat.openStream({ requestId: 'r', answerId: 'resp_1', nextEvent: 2 });
  const parts = { answer, backgroundFormat, write: (events: string) => void written.push(events), hold };
  return { sink: new EventsSink(parts), written };
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
  const ended = await sink.ended;
  expect('event' in ended && ended.event.toString()).toContain('response.completed');
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
