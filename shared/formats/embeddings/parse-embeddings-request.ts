import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { createProblemError } from '../openai/problem-error.ts';
import type { TextInputs } from '../text-inputs.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';

/** The encodings of a vector: a list of numbers, or 32-bit floats in little-endian order as base64. */
export type EncodingFormat = 'float' | 'base64';

export type EmbeddingsRequest = JsonObject & {
  model: string;
  input: TextInputs;
  dimensions?: number | null;
  encoding_format?: EncodingFormat | null;
  /** The index of the first vector. Set by an ingress that divides a request. Upstreams never receive this field. */
  first_index?: number | null;
};

/**
 * The fields of an embeddings request that the router reads (OpenAI API reference, "Create embeddings"). All other fields pass unchecked.
 */
const schema = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string().min(1), z.array(z.unknown()).min(1)]),
  dimensions: z.int().min(1).nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
});

/**
 * Checks the body of an embeddings request and returns the same object.
 * @throws RouterError `missing_parameter`, `invalid_request`, or `unsupported_parameter` for a field that only the router sets; `param` is
 * the field's path
 */
export function parseEmbeddingsRequest(body: unknown): EmbeddingsRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  const request = body as EmbeddingsRequest;
  if (request.first_index !== undefined)
    throw new RouterError('unsupported_parameter', "Unsupported parameter: 'first_index'.", { param: 'first_index' });
  if (Array.isArray(request.input)) checkList(request.input);
  return request;
}

/** Checks a list of texts, of token lists, or of tokens. A schema would be slow, because the list may have millions of elements. */
function checkList(input: Json[]): void {
  const [first] = input;
  if (typeof first === 'number') return checkTokens(input, 'input');
  for (const [position, each] of input.entries()) {
    const path = `input[${position}]`;
    if (Array.isArray(each) && Array.isArray(first)) checkTokens(each, path);
    else if (typeof each !== 'string' || typeof first !== 'string' || each === '') throw createInputError(path, each);
  }
}

function checkTokens(tokens: Json[], path: string): void {
  if (tokens.length === 0) throw createInputError(path, tokens);
  const at = tokens.findIndex((token) => !Number.isInteger(token) || Number(token) < 0);
  if (at >= 0) throw createInputError(`${path}[${at}]`, tokens[at]);
}

function createInputError(param: string, got: Json | undefined): RouterError {
  const expected = 'expected a text, a list of texts, a list of tokens, or lists of tokens, none of them empty';
  return new RouterError(
    'invalid_request',
    `Invalid value for '${param}': ${expected}, but got ${describeType(got)}.`,
    {
      param,
    },
  );
}

/** Describes a value by its type alone, because the value may be long or private. */
function describeType(value: Json | undefined): string {
  if (value === '') return 'an empty string';
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
