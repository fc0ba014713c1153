import { expect, it } from 'vitest';
import { HeldBodies } from '#services/ingress/http/held-bodies.ts';

it('a body that is still decompressed after its client has left takes no room', () => {
  const held = new HeldBodies(1_000, 10);
  const left = held.open();
  left.grow(400);
  left.release();
  expect(() => left.grow(400)).toThrow(expect.objectContaining({ code: 'invalid_json' }));
  expect(held.bytes).toBe(0);
  const next = held.open();
  next.grow(1_000);
  expect(held.bytes).toBe(1_000);
});
