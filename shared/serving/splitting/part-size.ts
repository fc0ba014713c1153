/** Minimum inputs of a part. Fewer inputs would cost more to dispatch than to serve. */
const minInputs = 16;

/** Maximum inputs of a part. When a worker dies, no more than these must be served again. */
const maxInputs = 256;

/** Approximate maximum bytes of a part's body. A worker can be offered a body of 512 KiB without a ticket. */
const maxBytes = 256 * 1024;

export function isWorthSplitting(inputs: number): boolean {
  return inputs >= 2 * minInputs;
}

/**
 * Computes the inputs of each part of a request, so that every free slot gets a part, within bounds.
 * @param bytes bytes of the whole body
 * @param free number of slots that are free now
 */
export function computePartSize(inputs: number, bytes: number, free: number): number {
  const even = Math.ceil(inputs / Math.max(1, free));
  const ofBytes = Math.max(1, Math.floor((maxBytes * inputs) / Math.max(1, bytes)));
  return Math.min(Math.max(minInputs, Math.min(even, maxInputs)), ofBytes);
}
