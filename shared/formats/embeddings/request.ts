import type { JsonObject } from '#shared/core/json.ts';

/** One or several inputs: a text or its tokens, or lists of either. */
export type EmbeddingsInput = string | number[] | string[] | number[][];

/** The encodings of a vector: a list of numbers, or 32-bit floats in little-endian order as base64. */
export type EncodingFormat = 'float' | 'base64';

/** A request for embeddings, checked by `parseEmbeddingsRequest`: the fields that the router reads. */
export type EmbeddingsRequest = JsonObject & {
  model: string;
  input: EmbeddingsInput;
  dimensions?: number | null;
  encoding_format?: EncodingFormat | null;
  /** The number of the first vector; sent by an ingress that divides a request, never to an upstream. */
  first_index?: number | null;
};

/** The inputs, one by one. */
export function inputsOf(input: EmbeddingsInput): string[] | number[][] {
  if (typeof input === 'string') return [input];
  return isTokens(input) ? [input] : input;
}

/** Whether a list is that of one input's tokens. */
function isTokens(input: number[] | string[] | number[][]): input is number[] {
  return typeof input[0] === 'number';
}
