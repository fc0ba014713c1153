import { describe, expect, it } from 'vitest';
import { PartialEvents } from '#shared/formats/sse/partial-events.ts';
import { WholeEventSplitter } from '#shared/formats/sse/event-objects.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const kib = (count: number): Buffer => Buffer.alloc(count * 1024, 'x');

describe('the beginnings of events', () => {
  it('take an eighth of the memory together, each at most half of what the others leave', () => {
    const events = new PartialEvents(8 * 1024 * 1024);
    events.open().add(kib(511));
    const other = events.open();
    other.add(kib(255));
    expect(() => other.add(kib(3))).toThrow(errorWith('overloaded'));
    // What was refused takes nothing any more.
    expect(other.bytes).toBe(0);
    events.open().add(kib(255));
  });

  it('may be as large as the rest of a piece, whatever the others take', () => {
    const events = new PartialEvents(8 * 1024 * 1024);
    for (let at = 0; at < 40; at += 1) events.open().add(kib(63));
    expect(() => events.open().add(kib(64))).toThrow(errorWith('overloaded'));
  });

  it('count as the memory of their pieces', () => {
    const event = new PartialEvents(8 * 1024 * 1024).open();
    const addAll = (): void => {
      for (let pieces = 0; pieces < 10_000; pieces += 1) event.add(Buffer.from('x'));
    };
    expect(addAll).toThrow(errorWith('upstream_failed'));
  });

  it('leave their room when the event is complete', () => {
    const events = new PartialEvents(8 * 1024 * 1024);
    const event = events.open();
    event.add(kib(511));
    expect(event.take(Buffer.from('end')).length).toBe(511 * 1024 + 3);
    expect(event.bytes).toBe(0);
    events.open().add(kib(511));
  });

  it('are at most 64 MiB', () => {
    const event = new PartialEvents(0).open();
    for (let mebibytes = 0; mebibytes < 56; mebibytes += 8) event.add(kib(8 * 1024));
    expect(() => event.add(kib(8 * 1024))).toThrow(errorWith('upstream_failed'));
  });
});

it.each([1, 2, 3, 7, 100])('a stream in pieces of %s bytes is whole events, its rest with the last piece', (size) => {
  const text = 'event: a\ndata: 1\n\ndata: 2\n\n\ndata: 3\n\ndata: 4';
  const splitter = new WholeEventSplitter();
  const events: string[] = [];
  for (let at = 0; at < text.length; at += size) {
    const piece = Buffer.from(text.slice(at, at + size));
    const isLast = at + size >= text.length;
    events.push(Buffer.from(isLast ? splitter.finish(piece) : splitter.takeWholeEvents(piece)).toString());
  }
  expect(events.join('')).toBe(text);
  for (const event of events.slice(0, -1)) expect(event === '' || event.endsWith('\n\n')).toBe(true);
});
