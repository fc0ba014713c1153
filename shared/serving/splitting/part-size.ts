/** Inputs of a part: fewer would cost more to hand out than to serve. */
const fewest = 16;

/** Inputs of a part at most: a worker that dies costs no more than these. */
const most = 256;

/** Bytes of a part's body, about, at most: a worker can be offered a body of 512 KiB without a ticket. */
const mostBytes = 256 * 1024;

/** Whether a request has so many inputs that it is worth being split. */
export function isWorthSplitting(inputs: number): boolean {
  return inputs >= 2 * fewest;
}

/**
 * Inputs of each part of a request: so many that every free slot gets one, within bounds.
 * @param bytes of the whole body
 * @param free slots that are free now
 */
export function partSize(inputs: number, bytes: number, free: number): number {
  const even = Math.ceil(inputs / Math.max(1, free));
  const ofBytes = Math.max(1, Math.floor((mostBytes * inputs) / Math.max(1, bytes)));
  return Math.min(Math.max(fewest, Math.min(even, most)), ofBytes);
}
