import { expect, it } from 'vitest';
import { faultNames } from '../chaos/faults/fault-kinds.ts';
import { runChaos } from '../chaos/run-chaos.ts';

/** Reservations of a killed ingress are free after a minute only: `npm run test:chaos` waits for that. */
const names = faultNames.filter((name) => name !== 'ingress-kill');

it('a cluster under load and faults breaks no promise in half a minute', { timeout: 200_000 }, async () => {
  const { violations, ends } = await runChaos({ seed: 18, ms: 25_000, names });
  expect(violations).toEqual([]);
  expect(ends.done).toBeGreaterThan(200);
});
