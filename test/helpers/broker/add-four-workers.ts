import { untilOffersAreTaken, type Parties } from './broker-parties.ts';

/** Adds four workers, one of which is named `sick`. */
export async function addFourWorkers({ ingress, addWorker }: Parties): Promise<void> {
  await Promise.all(['sick', 'b', 'c', 'd'].map((id) => addWorker({ id, slots: 4 })));
  await untilOffersAreTaken(ingress);
}
