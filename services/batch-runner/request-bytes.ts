import { shareOfMemory } from '#shared/core/memory-budget.ts';

/**
 * Bytes of the requests that a process works on: four of the largest, but an eighth of what the process may use. Each is in memory several
 * times.
 * @param memoryBytes what this process may use; 0 without a limit
 */
export function requestBytes(maxBodyBytes: number, memoryBytes: number): number {
  return Math.min(4 * maxBodyBytes, shareOfMemory(8, memoryBytes));
}
