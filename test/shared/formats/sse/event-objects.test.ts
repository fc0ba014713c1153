import { expect, it } from 'vitest';
import { EventObjects } from '#shared/formats/sse/event-objects.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const stream = [{ text: 'ä\n\nß' }, { text: '' }, { text: '🦡' }];
const bytes = Buffer.from(
  stream.map((data) => `event: a\ndata: ${JSON.stringify(data)}\n\n`).join('') + ': comment\n\n',
);

it.each([1, 2, 3, 7, 10_000])('the events of a stream are read from pieces of %i bytes', (size) => {
  const events = new EventObjects();
  const read = [];
  for (let at = 0; at < bytes.length; at += size) read.push(...events.read(bytes.subarray(at, at + size)));
  expect(read).toEqual(stream);
});

it('a large event in small pieces is read in time that grows with its length', () => {
  const events = new EventObjects();
  const large = Buffer.from(`data: ${JSON.stringify({ text: 'x'.repeat(16 * 1024 * 1024) })}\n\n`);
  const begun = performance.now();
  for (let at = 0; at < large.length; at += 1_024) events.read(large.subarray(at, at + 1_024));
  // It would take more than a minute if each piece was joined with the event's beginning.
  expect(performance.now() - begun).toBeLessThan(10_000);
});

it('an event that does not end is refused', () => {
  const events = new EventObjects();
  const piece = Buffer.alloc(16 * 1024 * 1024, 'x');
  const readAll = (): void => {
    for (let pieces = 0; pieces < 5; pieces += 1) events.read(piece);
  };
  expect(readAll).toThrow(errorWith('upstream_failed'));
});
