import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject } from '#shared/core/json.ts';
import { parseAnswer } from '#shared/core/has-more-values.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { DivisibleRequest } from '../divisible-request.ts';
import { type EmbeddingsRequest } from './parse-embeddings-request.ts';
import { listInputs } from '../text-inputs.ts';

/*
 * Vectors may have megabytes as text, so the answers to the parts are not parsed. Workers write `data` first and number the vectors from
 * `first_index`. To join the answers, the bytes between the brackets of `data` are copied.
 */

const opening = Buffer.from('{"object":"list","data":[');
const closing = Buffer.from('],"model":');
const comma = Buffer.from(',');

/** Divides an embeddings request, so that several workers can share it. Returns undefined for a request with one input. */
export function divideEmbeddings(request: EmbeddingsRequest): DivisibleRequest | undefined {
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

/** Joins the answers to the parts into an answer of the form that `embeddingsToEmbeddings` writes. */
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
