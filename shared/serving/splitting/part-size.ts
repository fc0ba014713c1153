/** Minimum inputs of a part: fewer would cost more to dispatch than to serve. */
const fewest = 16;

/** Maximum inputs of a part: a worker that dies costs no more than these. */
const most = 256;

/** Approximate maximum bytes of a part's body: a worker can be offered a body of 512 KiB without a ticket. */
const mostBytes = 256 * 1024;

export function isWorthSplitting(inputs: number): boolean {
  return inputs >= 2 * fewest;
}

/**
 * Computes the inputs of each part of a request, so that every free slot gets a part, within bounds.
 * @param bytes of the whole body
 * @param free slots that are free now
 */
export function partSize(inputs: number, bytes: number, free: number): number {
  const even = Math.ceil(inputs / Math.max(1, free));
  const ofBytes = Math.max(1, Math.floor((mostBytes * inputs) / Math.max(1, bytes)));
  return Math.min(Math.max(fewest, Math.min(even, most)), ofBytes);
}
