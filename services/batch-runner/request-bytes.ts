import { computeMemoryShare } from '#shared/core/memory-budget.ts';

/**
 * Returns the bytes for all requests that a process works on: those of four of the largest requests, but at most a
 * sixteenth of the memory. It is not more, because each request is in memory several times. A single request may be larger.
 * @param memoryBytes memory limit of this process; 0 if it has none
 */
export function requestBytes(maxBodyBytes: number, memoryBytes: number): number {
  return Math.min(4 * maxBodyBytes, computeMemoryShare(16, memoryBytes));
}
