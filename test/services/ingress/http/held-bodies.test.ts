import { expect, it } from 'vitest';
import { HeldBodies } from '#services/ingress/http/held-bodies.ts';

it('a body that is still decompressed after its client has left takes no room', () => {
  const held = new HeldBodies(1_000, 10);
  const left = held.open('key');
  left.grow(400);
  left.release();
  expect(() => left.grow(400)).toThrow(expect.objectContaining({ code: 'invalid_json' }));
  expect(held.bytes).toBe(0);
  const next = held.open('key');
  next.grow(1_000);
  expect(held.bytes).toBe(1_000);
});

it('a key leaves as much free as it holds, and a single body may take all', () => {
  const held = new HeldBodies(1_000, 10);
  const first = held.open('loud');
  first.grow(400);
  const second = held.open('loud');
  second.grow(100);
  expect(() => second.grow(1)).toThrow(expect.objectContaining({ code: 'overloaded' }));
  const other = held.open('quiet');
  other.grow(250);
  expect(() => held.open('quiet').grow(1)).toThrow(expect.objectContaining({ code: 'overloaded' }));
  first.release();
  second.grow(250);
  expect(held.bytes).toBe(600);
  for (const { release } of [second, other]) release();
  held.open('loud').grow(1_000);
});
