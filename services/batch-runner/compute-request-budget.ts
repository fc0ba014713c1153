import { computeMemoryShare } from '#shared/core/memory-budget.ts';

/**
 * Returns how many bytes all requests that a process works on may have together: four times the largest body, but at most a sixteenth of
 * the memory, because each request is in memory several times. A single request that is larger is still accepted while there is no other.
 * @param memoryBytes memory limit of this process; 0 if it has none
 */
export function computeRequestBudget(maxBodyBytes: number, memoryBytes: number): number {
  return Math.min(4 * maxBodyBytes, computeMemoryShare(16, memoryBytes));
}
