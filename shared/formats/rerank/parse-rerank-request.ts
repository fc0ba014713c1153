import { z } from 'zod';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import { arrayOf } from '../validation/loose-schema.ts';
import type { JsonObject } from '#shared/core/json.ts';

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
export function parseRerankRequest(body: unknown): RerankRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  return body as RerankRequest;
}
