import { expect, it } from 'vitest';
import { ProofOfLife } from '#shared/broker/dispatch/workers/proof-of-life.ts';

it('a worker lived when a heartbeat came that another one followed at its time', () => {
  const life = new ProofOfLife();
  life.onHeartbeat(1_000);
  expect(life.provenAt).toBe(Number.NEGATIVE_INFINITY);
  life.onHeartbeat(2_000);
  expect(life.provenAt).toBe(1_000);
  // Heartbeats that a change causes follow each other closely.
  for (let at = 2_010; at < 3_000; at += 10) life.onHeartbeat(at);
  expect(life.provenAt).toBe(2_000);
});

it('heartbeats that a server delivers late, all at once, show nothing', () => {
  const life = new ProofOfLife();
  life.onHeartbeat(1_000);
  life.onHeartbeat(2_000);
  for (const at of [6_000, 6_001, 6_002]) life.onHeartbeat(at);
  expect(life.provenAt).toBe(2_000);
});
