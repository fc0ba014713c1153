import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { embeddingsFormat } from '#shared/formats/embeddings/embeddings-format.ts';
import { listInputs, type EmbeddingsRequest, type EncodingFormat } from '#shared/formats/embeddings/request.ts';
import { neverStreamed } from '../never-streamed.ts';
import type { Ending, AnswerContext, ModelTraits, Translation } from '../translation.ts';
import { upstreamErrorFromChatEvent } from '../upstreams/chat/upstream-error.ts';
import { embeddingsUpstream } from '../upstreams/embeddings/embeddings-upstream.ts';
import { readInputUsage } from '../upstreams/read-input-usage.ts';
import { answerRules, requestRules } from './field-rules.ts';
import { encodeVector } from './encode-vector.ts';

/** The fields of the request that the translation of the answer needs. */
interface RecalledFields {
  inputs: number;
  encoding: EncodingFormat;
  dimensions: number | null;
  firstIndex: number;
}

export const embeddingsToEmbeddings: Translation = {
  client: embeddingsFormat,
  upstream: embeddingsUpstream,
  requestRules,
  answerRules,
  passesHeaders: false,
  recall: (body) => ({ ...toRecalledFields(body as EmbeddingsRequest) }),
  request: embeddingsToEmbeddingsRequest,
  reply: embeddingsToEmbeddingsReply,
  stream: neverStreamed,
};

function toRecalledFields({ input, encoding_format, dimensions, first_index }: EmbeddingsRequest): RecalledFields {
  return {
    inputs: listInputs(input).length,
    encoding: encoding_format ?? 'float',
    dimensions: dimensions ?? null,
    firstIndex: first_index ?? 0,
  };
}

function embeddingsToEmbeddingsRequest(body: JsonObject, { model }: ModelTraits): JsonObject {
  const { first_index: _, ...request } = body;
  return { ...request, model };
}

/**
 * Returns the client's answer: one vector per input, in order, in the requested encoding. `object`, `data` and
 * `model` must come first, in this order, because `divide-embeddings.ts` relies on it when it joins the answers to the parts of a request.
 * @throws RouterError `upstream_failed` if a vector is missing; `unsupported_parameter` if the vectors do not have the requested dimensions
 */
function embeddingsToEmbeddingsReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = upstreamErrorFromChatEvent(body);
  if (failure) throw failure;
  const { inputs, encoding, dimensions, firstIndex } = answerContext.recalled as unknown as RecalledFields;
  const vectors = readVectors(body['data'], inputs);
  const data = vectors.map((item, at) => {
    const { vector, dimensions: has } = encodeVector(item, encoding);
    if (dimensions !== null && has !== dimensions) throw otherDimensionsError(has);
    return { object: 'embedding', index: firstIndex + at, embedding: vector };
  });
  const usage = readInputUsage(body['usage'], answerContext);
  const counts = { prompt_tokens: usage.promptTokens, total_tokens: usage.promptTokens };
  return {
    body: { object: 'list', data, model: answerContext.model, usage: counts },
    ending: { usage, finishReason: 'stop' },
  };
}

/** Returns the vectors in the order of their inputs, whatever the order of the answer. */
function readVectors(data: Json | undefined, inputs: number): Json[] {
  const vectors: Json[] = [];
  for (const [position, item] of (Array.isArray(data) ? data : []).entries()) {
    if (!isJsonObject(item)) continue;
    const { index = position, embedding } = item;
    if (typeof index === 'number' && embedding !== undefined) vectors[index] = embedding;
  }
  const isWhole = vectors.length === inputs && !vectors.includes(undefined as unknown as Json);
  if (!isWhole) throw new RouterError('upstream_failed', 'The upstream has not sent a vector for each input.');
  return vectors;
}

/** Returns the error for vectors with other dimensions than requested, because some engines ignore the field `dimensions`. */
function otherDimensionsError(dimensions: number): RouterError {
  return new RouterError(
    'unsupported_parameter',
    `Unsupported value for 'dimensions': the model that serves this request gives ${dimensions}.`,
    { param: 'dimensions' },
  );
}
