import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import type { ClientFormat, Needs, RequestParameters } from '../client-format.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { readJsonRequest } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { estimateInputs } from '../text-inputs.ts';
import { parseRerankRequest, type RerankRequest } from './parse-rerank-request.ts';

/**
 * The rerank format of Cohere, Jina and vLLM: the model ranks documents by how well they answer a query. Clients of OpenAI's API also use
 * this format.
 */
export const rerankFormat: ClientFormat = {
  name: 'rerank',
  api: openaiApi,
  routes: [
    { path: '/rerank', operation: 'rank' },
    // Used by Cohere's clients.
    { path: '/v2/rerank', operation: 'rank' },
  ],
  passedHeaders: [],
  answerIdPrefix: 'rerank-',
  read: (body) => readJsonRequest(body, (parsed) => toParameters(parseRerankRequest(parsed))),
  estimateInput: (request: JsonObject) => computeNeeds(request as RerankRequest).inputTokens,
  errorAnswer: createOpenaiErrorAnswer,
  limitHeaders: createOpenaiLimitHeaders,
  // Answers are never streamed. The type requires the function, so the additions of the chat format are used.
  openStream: ({ requestId }) => new StatelessStream(chatStreamAdditions, requestId),
};

function toParameters(request: RerankRequest): RequestParameters {
  return {
    model: request.model,
    stream: false,
    needs: computeNeeds(request),
    maxOutput: 0,
    serviceTier: undefined,
    conversation: undefined,
  };
}

/** Returns the needs of a request. The query counts once per document, because the model reads the query with each document. */
function computeNeeds({ query, documents }: RerankRequest): Needs {
  const inputs = estimateInputs(documents, estimateTokens(query));
  return { tools: false, vision: false, thinking: false, json: false, ...inputs };
}
