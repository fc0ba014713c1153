import { computeMemoryShare } from '#shared/core/memory-budget.ts';

/**
 * Computes the most bytes that all requests of a process may have together: four times the largest body, but at most a sixteenth of the
 * memory, because each request is in memory several times. A single larger request is accepted while there is no other.
 * @param memoryBytes memory limit of this process; 0 if it has none
 */
export function computeRequestBudget(maxBodyBytes: number, memoryBytes: number): number {
  return Math.min(4 * maxBodyBytes, computeMemoryShare(16, memoryBytes));
}
