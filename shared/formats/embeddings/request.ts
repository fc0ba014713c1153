import type { JsonObject } from '#shared/core/json.ts';

/** One or several inputs: a text, the tokens of a text, or a list of either. */
export type EmbeddingsInput = string | number[] | string[] | number[][];

/** The encodings of a vector: a list of numbers, or 32-bit floats in little-endian order as base64. */
export type EncodingFormat = 'float' | 'base64';

export type EmbeddingsRequest = JsonObject & {
  model: string;
  input: EmbeddingsInput;
  dimensions?: number | null;
  encoding_format?: EncodingFormat | null;
  /** The index of the first vector. Set by an ingress that divides a request. Upstreams never receive this field. */
  first_index?: number | null;
};

export function listInputs(input: EmbeddingsInput): string[] | number[][] {
  if (typeof input === 'string') return [input];
  return isTokens(input) ? [input] : input;
}

function isTokens(input: number[] | string[] | number[][]): input is number[] {
  return typeof input[0] === 'number';
}
