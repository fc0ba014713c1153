import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import type { ClientFormat, ClientRequest, Needs, RequestParameters } from '../client-format.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { readJsonRequest } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { divideEmbeddings } from './divide-embeddings.ts';
import { parseEmbeddingsRequest } from './parse-embeddings-request.ts';
import { listInputs, type EmbeddingsRequest } from './request.ts';

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
  let inputTokens = 0;
  let longestInput = 0;
  for (const text of listInputs(input)) {
    const tokens = typeof text === 'string' ? estimateTokens(text) : text.length;
    inputTokens += tokens;
    longestInput = Math.max(longestInput, tokens);
  }
  return { tools: false, vision: false, thinking: false, json: false, inputTokens, longestInput };
}
