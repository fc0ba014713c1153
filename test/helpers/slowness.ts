import { hashSecret } from '#shared/accounts/hash-secret.ts';

/** Milliseconds of one such hash on the machine for which limits of time in tests were set, while nothing else ran. */
const referenceMs = 21;

/** How many times as slow as that machine this one is right now, at least 1: limits of time are widened by it. */
export async function slowness(): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const began = performance.now();
    await hashSecret('a secret');
    times.push(performance.now() - began);
  }
  const median = times.sort((a, b) => a - b)[4] ?? referenceMs;
  return Math.max(1, median / referenceMs);
}
