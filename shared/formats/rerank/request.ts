import type { JsonObject } from '#shared/core/json.ts';

export type RerankRequest = JsonObject & {
  model: string;
  query: string;
  documents: string[];
  /** Maximum number of results. May exceed the number of documents. */
  top_n?: number | null;
  return_documents?: boolean | null;
};
