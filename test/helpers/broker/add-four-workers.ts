import type { Parties, TestIngress } from './broker-parties.ts';

/**
 * Adds four workers, one of them named `sick`.
 * @returns the first ingress
 */
export async function addFourWorkers({ ingress, addWaiting }: Parties): Promise<TestIngress> {
  await addWaiting(...['sick', 'b', 'c', 'd'].map((id) => ({ id, slots: 4 })));
  return ingress;
}
