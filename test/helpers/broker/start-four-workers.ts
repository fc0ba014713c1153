import type { TestContext } from 'vitest';
import { startParties, untilOffersAreTaken, type Parties, type PartyOptions } from './broker-parties.ts';

/** Starts four workers, one of which is named `sick`, that end with the test. */
export async function startFourWorkers({ onTestFinished }: TestContext, options: PartyOptions = {}): Promise<Parties> {
  const parties = await startParties(options);
  onTestFinished(() => parties.close());
  await Promise.all(['sick', 'b', 'c', 'd'].map((id) => parties.addWorker({ id, slots: 4 })));
  await untilOffersAreTaken(parties.ingress);
  return parties;
}
