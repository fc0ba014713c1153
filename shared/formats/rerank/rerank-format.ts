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
import { z } from 'zod';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import { arrayOf } from '../validation/loose-schema.ts';

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

export type RerankRequest = JsonObject & {
  model: string;
  query: string;
  documents: string[];
  /** Maximum number of results. May exceed the number of documents. */
  top_n?: number | null;
  return_documents?: boolean | null;
};

/**
 * The fields of a rerank request that the router reads, as in the APIs of Cohere, Jina and vLLM (Cohere API reference, "Rerank"). All other
 * fields pass unchecked. The route of Cohere's second version accepts the same request.
 */
const schema = z.looseObject({
  model: z.string().min(1),
  query: z.string().min(1),
  documents: arrayOf(z.string().min(1)).min(1),
  top_n: z.int().min(1).nullish(),
  return_documents: z.boolean().nullish(),
});

/**
 * Checks the body of a rerank request and returns the same object.
 * @throws RouterError `missing_parameter` or `invalid_request`; `param` is the field's path
 */
function parseRerankRequest(body: unknown): RerankRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  return body as RerankRequest;
}
