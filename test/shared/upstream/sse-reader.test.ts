import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { SseReader } from '#shared/upstream/sse-reader.ts';
import { errorWith } from '../../helpers/error-with.ts';

function read(chunks: readonly Uint8Array[], limit?: number): string[] {
  const reader = new SseReader(limit);
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

const stream = Buffer.from(
  '\uFEFF: hello\r\n\r\nevent: a\r\ndata: {"t":"Grüße 👩‍🚀"}\r\n\r\nid: 7\nretry: 5\ndata:two\ndata: lines\n\ndata: 日本語\r\rdata: [DONE]',
);
const events = ['{"t":"Grüße 👩‍🚀"}', 'two\nlines', '日本語', '[DONE]'];

it('the reader of server-sent events returns the same events at every split point, multi-byte characters and CRLF included', () => {
  for (let at = 0; at <= stream.length; at++)
    expect(read([stream.subarray(0, at), stream.subarray(at)])).toEqual(events);
});

it('the reader of server-sent events returns the same events for every chunking', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: stream.length })), (cuts) => {
      const borders = [0, ...cuts.sort((a, b) => a - b), stream.length];
      const chunks = borders.slice(1).map((end, at) => stream.subarray(borders[at], end));
      expect(read(chunks)).toEqual(events);
    }),
  );
});

it('the reader of server-sent events replaces invalid bytes as a decoder does, at every split point', () => {
  const invalid = 'ff e0 e080 c3 f0908d f0908d41 eda080 f4908080 80bf c2e28228 e282acf0';
  for (const hex of invalid.split(' ')) {
    const bytes = Buffer.concat([Buffer.from('data: a'), Buffer.from(hex, 'hex')]);
    const event = new TextDecoder().decode(bytes).slice('data: '.length);
    for (let at = 0; at <= bytes.length; at++)
      expect(read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual([event]);
  }
});

it('the reader of server-sent events refuses an event that exceeds the limit, in one line or in many', () => {
  const one = () => read([Buffer.from('data: '), Buffer.from('x'.repeat(100)), Buffer.from('x')], 100);
  const many = () => read([Buffer.from('data: 0123456789\n'.repeat(20))], 100);
  for (const attempt of [one, many]) expect(attempt).toThrow(errorWith('upstream_failed'));
});
