import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { parseAnswer } from '#shared/core/has-more-values.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { DivisibleRequest } from '../client-format.ts';
import { createEventlessFormat } from '../openai/openai-format.ts';
import { estimateInputs, listInputs, type TextInputs } from '../text-inputs.ts';

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

export const embeddingsFormat = createEventlessFormat<EmbeddingsRequest>({
  name: 'embeddings',
  routes: [{ path: '/embeddings', operation: 'embed' }],
  answerIdPrefix: 'embd-',
  schema,
  check: ({ input, first_index: firstIndex }) => {
    // Only the router sets this field.
    if (firstIndex !== undefined)
      throw new RouterError('unsupported_parameter', "Unsupported parameter: 'first_index'.", { param: 'first_index' });
    if (Array.isArray(input)) checkList(input);
  },
  estimateInput: ({ input }) => estimateInputs(input),
  divide: divideEmbeddings,
});

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

/*
 * Vectors may have megabytes as text, so the answers to the parts are not parsed. Workers write `data` first and number the vectors from
 * `first_index`. To join the answers, the bytes between the brackets of `data` are copied.
 */

const opening = Buffer.from('{"object":"list","data":[');
const closing = Buffer.from('],"model":');
const comma = Buffer.from(',');

/** Divides an embeddings request, so that several workers can share it. Returns undefined for a request with one input. */
function divideEmbeddings(request: EmbeddingsRequest): DivisibleRequest | undefined {
  const inputs = listInputs(request.input);
  if (inputs.length < 2) return undefined;
  return {
    inputs: inputs.length,
    part: (defaults, from, to) => {
      const part = { input: inputs.slice(from, to), first_index: from };
      return Buffer.from(JSON.stringify({ ...defaults, ...request, ...part }));
    },
    join: joinAnswers,
  };
}

/** Joins the answers to the parts into an answer of the form that `embeddingsChanges` writes. */
function joinAnswers(answers: readonly Buffer[], { promptTokens }: Usage): Buffer {
  const parts = answers.map(readAnswer);
  const vectors = parts.flatMap(({ data }, at) => (at === 0 ? [data] : [comma, data]));
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  const rest = JSON.stringify({ model: parts[0]?.model ?? '', usage });
  return Buffer.concat([opening, ...vectors, Buffer.from(`],${rest.slice(1)}`)]);
}

function readAnswer(answer: Buffer): { data: Buffer; model: string } {
  const end = answer.lastIndexOf(closing);
  const tail = end < 0 ? undefined : parseAnswer(`{${answer.toString('utf8', end + 2)}`);
  if (!answer.subarray(0, opening.length).equals(opening) || !isJsonObject(tail) || typeof tail['model'] !== 'string')
    throw new RouterError('upstream_failed', 'A part of the answer cannot be read.');
  return { data: answer.subarray(opening.length, end), model: tail['model'] };
}
