import { z } from 'zod';
import type { JsonObject } from '#shared/core/json.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { estimateInputs } from '../text-inputs.ts';
import { arrayOf } from '../validation/loose-schema.ts';
import { createEventlessFormat } from '../openai/openai-format.ts';

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
 * The rerank format of Cohere, Jina and vLLM: the model ranks documents by how well they answer a query. Clients of OpenAI's API also use
 * this format.
 */
export const rerankFormat = createEventlessFormat<RerankRequest>({
  name: 'rerank',
  routes: [
    { path: '/rerank', operation: 'rank' },
    // Used by Cohere's clients.
    { path: '/v2/rerank', operation: 'rank' },
  ],
  answerIdPrefix: 'rerank-',
  schema,
  // The query counts once per document, because the model reads the query with each document.
  estimateInput: ({ query, documents }) => estimateInputs(documents, estimateTokens(query)),
});
