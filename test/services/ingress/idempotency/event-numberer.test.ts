import { expect, it } from 'vitest';
import { EventNumberer, isKeepAlive, selectEventsAfter } from '#services/ingress/idempotency/event-numberer.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const stream = [
  ': keep-alive\n\n',
  'data: {"text":"é one"}\n\n',
  'event: ping\ndata: {"type":"ping"}\n\n',
  'event: delta\ndata: {"text":"two"}\n\n',
  'data: [DONE]\n\n',
].join('');

const numbered = [
  ': keep-alive\n\n',
  'id: 0\ndata: {"text":"é one"}\n\n',
  'event: ping\ndata: {"type":"ping"}\n\n',
  'id: 1\nevent: delta\ndata: {"text":"two"}\n\n',
  'id: 2\ndata: [DONE]\n\n',
];

function number(pieces: readonly Buffer[], first = 0) {
  const events: string[] = [];
  const numberer = new EventNumberer(first, (bytes, at) => {
    expect(at).toBe(events.length);
    events.push(bytes.toString());
  });
  const sent = Buffer.concat(pieces.map((piece) => numberer.add(piece))).toString();
  numberer.end();
  return { sent, events };
}

it('the numbers of events stand ahead of each event, and of no keep-alive, wherever the stream is split', () => {
  const bytes = Buffer.from(stream);
  // A keep-alive is written whole.
  const splits = Array.from({ length: bytes.length }, (_, at) => at).filter((at) => {
    const before = bytes.subarray(0, at).toString();
    const begun = before.slice(before.lastIndexOf('\n\n') + 2);
    return begun === '' || !('event: ping\n'.startsWith(begun) || ':'.startsWith(begun));
  });
  expect(splits.length).toBeGreaterThan(80);
  for (const at of splits) {
    const { sent, events } = number([bytes.subarray(0, at), bytes.subarray(at)]);
    expect(sent).toBe(numbered.join(''));
    expect(events).toEqual(numbered.filter((event) => event.startsWith('id: ')));
  }
});

it('the numbers of events begin with another number in a later execution', () => {
  const { events } = number([Buffer.from('data: a\n\ndata: b\n\n')], 2_000_000);
  expect(events).toEqual(['id: 2000000\ndata: a\n\n', 'id: 2000001\ndata: b\n\n']);
});

it('the numbers of events are given to a last event without its empty line, too', () => {
  expect(number([Buffer.from('data: a\n\ndata: b\n')]).events).toEqual(['id: 0\ndata: a\n\n', 'id: 1\ndata: b\n']);
});

it('the numbers of events do not refer to the memory that the stream came in', () => {
  const piece = Buffer.from('data: a\n\n');
  const kept: Buffer[] = [];
  new EventNumberer(0, (bytes) => void kept.push(bytes)).add(piece);
  piece.fill('x');
  expect(Buffer.concat(kept).toString()).toBe('id: 0\ndata: a\n\n');
});

it('the events after an event are those with a higher number', () => {
  const part = Buffer.from('id: 7\ndata: a\n\nid: 8\nevent: x\ndata: b\n\nid: 9\ndata: c\n\n');
  const rest = (after: number) => selectEventsAfter(part, 9, after).toString();
  expect(rest(9)).toBe('');
  expect(rest(8)).toBe('id: 9\ndata: c\n\n');
  expect(rest(7)).toBe('id: 8\nevent: x\ndata: b\n\nid: 9\ndata: c\n\n');
  for (const before of [6, -1]) expect(rest(before)).toBe(part.toString());
  const open = Buffer.from('id: 7\ndata: a\n\nid: 8\ndata: b\n');
  expect(selectEventsAfter(open, 8, 7).toString()).toBe('id: 8\ndata: b\n');
});

it('a keep-alive is a comment, or a ping of the messages format', () => {
  for (const text of [': keep-alive\n\n', 'event: ping\ndata: {}\n\n'])
    expect(isKeepAlive(Buffer.from(text))).toBe(true);
  for (const text of ['data: :\n\n', 'event: pings\ndata: {}\n\n', 'event: keepalive\n', ''])
    expect(isKeepAlive(Buffer.from(text))).toBe(false);
});

it('an event that does not end is refused', () => {
  const numberer = new EventNumberer(0, () => undefined);
  const piece = Buffer.alloc(16 * 1024 * 1024, 'x');
  const addAll = (): void => {
    for (let pieces = 0; pieces < 5; pieces += 1) numberer.add(piece);
  };
  expect(addAll).toThrow(errorWith('upstream_failed'));
});
