import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { EmbeddingsRequest, EncodingFormat } from '#shared/formats/embeddings/embeddings-format.ts';
import { listInputs } from '#shared/formats/text-inputs.ts';
import type { Ending, AnswerContext, ModelTraits } from '../translation.ts';
import { readChatEventError } from '../upstreams/chat/upstream-error.ts';
import { readInputUsage } from '#shared/formats/chat/usage.ts';

/** The fields of the request that the translation of the answer needs. */
interface RecalledFields {
  inputs: number;
  encoding: EncodingFormat;
  dimensions: number | null;
  firstIndex: number;
}

/** What changes in requests and answers of the format. */
export const embeddingsChanges = {
  recallFields: (body: JsonObject) => ({ ...toRecalledFields(body as EmbeddingsRequest) }),
  translateRequest: embeddingsToEmbeddingsRequest,
  translateReply: embeddingsToEmbeddingsReply,
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
 * Returns the client's answer: one vector per input, in order, in the requested encoding. `object`, `data` and `model` must come first, in
 * this order: `divideEmbeddings` relies on the order when it joins the answers to the parts of a request.
 * @throws RouterError `upstream_failed` if a vector is missing; `unsupported_parameter` if the vectors do not have the requested dimensions
 */
function embeddingsToEmbeddingsReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = readChatEventError(body);
  if (failure) throw failure;
  const { inputs, encoding, dimensions, firstIndex } = answerContext.recalled as unknown as RecalledFields;
  const vectors = readVectors(body['data'], inputs);
  const data = vectors.map((item, at) => {
    const { vector, dimensions: actualDimensions } = encodeVector(item, encoding);
    if (dimensions !== null && actualDimensions !== dimensions) throw createDimensionsError(actualDimensions);
    return { object: 'embedding', index: firstIndex + at, embedding: vector };
  });
  const usage = readInputUsage(body['usage'], answerContext);
  const counts = { prompt_tokens: usage.promptTokens, total_tokens: usage.promptTokens };
  return {
    body: { object: 'list', data, model: answerContext.model, usage: counts },
    ending: { usage, finishReason: 'stop' },
  };
}

/** Returns the vectors in the order of their inputs. The upstream may send them in any order. */
function readVectors(data: Json | undefined, inputs: number): Json[] {
  const vectors: Json[] = [];
  for (const [position, item] of (Array.isArray(data) ? data : []).entries()) {
    if (!isJsonObject(item)) continue;
    const { index = position, embedding } = item;
    if (typeof index === 'number' && embedding !== undefined) vectors[index] = embedding;
  }
  const isComplete = vectors.length === inputs && !vectors.includes(undefined as unknown as Json);
  if (!isComplete) throw new RouterError('upstream_failed', 'The upstream has not sent a vector for each input.');
  return vectors;
}

/** Returns the error for vectors of another length than requested. Some engines ignore the field `dimensions`. */
function createDimensionsError(dimensions: number): RouterError {
  return new RouterError(
    'unsupported_parameter',
    `Unsupported value for 'dimensions': the model that serves this request gives ${dimensions}.`,
    { param: 'dimensions' },
  );
}

const bytesPerNumber = 4;

/**
 * Converts a vector to the requested encoding. The upstream may send another encoding, because not every engine supports both.
 * @returns the vector, and its number of dimensions
 * @throws RouterError `upstream_failed` if the value is not a vector
 */
function encodeVector(vector: Json | undefined, encoding: EncodingFormat): { vector: Json; dimensions: number } {
  if (typeof vector === 'string') {
    const bytes = Buffer.from(vector, 'base64');
    if (bytes.length % bytesPerNumber !== 0) throw createVectorError();
    const dimensions = bytes.length / bytesPerNumber;
    return { vector: encoding === 'base64' ? vector : decodeNumbers(bytes), dimensions };
  }
  if (!Array.isArray(vector) || typeof vector[0] !== 'number') throw createVectorError();
  return { vector: encoding === 'base64' ? encodeBase64(vector) : vector, dimensions: vector.length };
}

function decodeNumbers(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / bytesPerNumber }, (_, index) => bytes.readFloatLE(index * bytesPerNumber));
}

function encodeBase64(vector: readonly Json[]): string {
  const bytes = Buffer.alloc(vector.length * bytesPerNumber);
  for (const [index, number] of vector.entries()) {
    if (typeof number !== 'number') throw createVectorError();
    bytes.writeFloatLE(number, index * bytesPerNumber);
  }
  return bytes.toString('base64');
}

function createVectorError(): RouterError {
  return new RouterError('upstream_failed', 'The upstream sent a vector that cannot be read.');
}
