/** Minimum inputs of a part. Fewer inputs would cost more to dispatch than to serve. */
const minInputs = 16;

/** Maximum inputs of a part. If a worker dies, at most this many inputs per part are served again. */
const maxInputs = 256;

/** Approximate maximum bytes of a part's body. A body of up to 512 KiB can be offered to a worker without a ticket. */
const maxBytes = 256 * 1024;

/** Whether a request has enough inputs for at least two parts. */
export function isWorthSplitting(inputs: number): boolean {
  return inputs >= 2 * minInputs;
}

/**
 * Computes the number of inputs in each part of a request. Aims at one part per free slot, within the limits for a part.
 * @param bytes bytes of the whole body
 * @param freeSlots number of slots that are free now
 */
export function computePartSize(inputs: number, bytes: number, freeSlots: number): number {
  const evenSize = Math.ceil(inputs / Math.max(1, freeSlots));
  const sizeByBytes = Math.max(1, Math.floor((maxBytes * inputs) / Math.max(1, bytes)));
  return Math.min(Math.max(minInputs, Math.min(evenSize, maxInputs)), sizeByBytes);
}
