import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import type { ClientFormat, ClientRequest, RequestParameters } from '../client-format.ts';
import { readJsonRequest } from '../json-request.ts';
import { openaiErrorAnswer } from '../openai/error.ts';
import { openaiLimitHeaders } from '../openai/limit-headers.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { divideEmbeddings } from './divide-embeddings.ts';
import { embeddingsNeeds } from './embeddings-needs.ts';
import { parseEmbeddingsRequest } from './parse-embeddings-request.ts';
import type { EmbeddingsRequest } from './request.ts';

export const embeddingsFormat: ClientFormat = {
  name: 'embeddings',
  api: openaiApi,
  routes: [{ path: '/embeddings', operation: 'embed' }],
  passedHeaders: [],
  answerIdPrefix: 'embd-',
  read: readRequest,
  estimateInput: (request: JsonObject) => embeddingsNeeds(request as EmbeddingsRequest).inputTokens,
  errorAnswer: openaiErrorAnswer,
  limitHeaders: openaiLimitHeaders,
  // Embeddings answers are never streamed. The type requires a stream, so any format's additions will do.
  openStream: ({ requestId }) => new StatelessStream(chatStreamAdditions, requestId),
};

function readRequest(body: Buffer): ClientRequest {
  let checked: EmbeddingsRequest | undefined;
  const read = (parsed: unknown): RequestParameters => parametersOf((checked = parseEmbeddingsRequest(parsed)));
  const request = readJsonRequest(body, read);
  return { ...request, divisible: checked && divideEmbeddings(checked) };
}

function parametersOf(request: EmbeddingsRequest): RequestParameters {
  return {
    model: request.model,
    stream: false,
    needs: embeddingsNeeds(request),
    maxOutput: 0,
    serviceTier: undefined,
    conversation: undefined,
  };
}
