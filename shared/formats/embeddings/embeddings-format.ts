import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import type { ClientFormat, ClientRequest, Needs, RequestParameters } from '../client-format.ts';
import { readJsonRequest } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { estimateInputs } from '../text-inputs.ts';
import { divideEmbeddings } from './divide-embeddings.ts';
import { parseEmbeddingsRequest, type EmbeddingsRequest } from './parse-embeddings-request.ts';

export const embeddingsFormat: ClientFormat = {
  name: 'embeddings',
  api: openaiApi,
  routes: [{ path: '/embeddings', operation: 'embed' }],
  passedHeaders: [],
  answerIdPrefix: 'embd-',
  read: readRequest,
  estimateInput: (request: JsonObject) => computeNeeds(request as EmbeddingsRequest).inputTokens,
  errorAnswer: createOpenaiErrorAnswer,
  limitHeaders: createOpenaiLimitHeaders,
  // Answers are never streamed. The type requires the function, so the additions of the chat format are used.
  openStream: ({ requestId }) => new StatelessStream(chatStreamAdditions, requestId),
};

function readRequest(body: Buffer): ClientRequest {
  let checked: EmbeddingsRequest | undefined;
  const read = (parsed: unknown): RequestParameters => toParameters((checked = parseEmbeddingsRequest(parsed)));
  const request = readJsonRequest(body, read);
  return { ...request, divisible: checked && divideEmbeddings(checked) };
}

function toParameters(request: EmbeddingsRequest): RequestParameters {
  return {
    model: request.model,
    stream: false,
    needs: computeNeeds(request),
    maxOutput: 0,
    serviceTier: undefined,
    conversation: undefined,
  };
}

function computeNeeds({ input }: EmbeddingsRequest): Needs {
  return { tools: false, vision: false, thinking: false, json: false, ...estimateInputs(input) };
}
