/**
 * Signs thinking that comes from an engine which signs nothing. Clients of the messages format send a thinking block back
 * only with a signature, and do not look into it. Real upstreams of the format check it, so a block with this one must not
 * reach them.
 */
export const syntheticSignature = 'model-router-unsigned';

/** Whether a thinking block was signed here. */
export function isSyntheticSignature(signature: unknown): boolean {
  return signature === syntheticSignature;
}
