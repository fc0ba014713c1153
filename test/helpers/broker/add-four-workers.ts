import { untilOffersAreTaken, type Parties, type TestIngress } from './broker-parties.ts';

/** Adds four workers, one of which is named `sick`. @returns the first ingress */
export async function addFourWorkers({ ingress, addWorker }: Parties): Promise<TestIngress> {
  await Promise.all(['sick', 'b', 'c', 'd'].map((id) => addWorker({ id, slots: 4 })));
  await untilOffersAreTaken(ingress);
  return ingress;
}
