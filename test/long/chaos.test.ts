import { expect, it } from 'vitest';
import { faultNames, type FaultName } from '../chaos/faults/fault-kinds.ts';
import { runChaos } from '../chaos/run-chaos.ts';

/** What a cluster recovers from in longer than half a minute is left to `npm run test:chaos`: reservations, elections, full disks. */
const lasting = new Set<FaultName>(['ingress-kill', 'redis-kill', 'redis-full', 'nats-full']);
const names = faultNames.filter((name) => !lasting.has(name));

it('a cluster under load and faults breaks no promise in half a minute', { timeout: 200_000 }, async () => {
  const { violations, ends } = await runChaos({ seed: 18, ms: 25_000, names });
  expect(violations).toEqual([]);
  expect(ends.done).toBeGreaterThan(200);
});
