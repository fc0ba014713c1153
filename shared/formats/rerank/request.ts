import type { JsonObject } from '#shared/core/json.ts';

/** A request to rank documents, checked by `parseRerankRequest`: the fields that the router reads. */
export type RerankRequest = JsonObject & {
  model: string;
  query: string;
  documents: string[];
  /** Results at most; more than there are documents is fine. */
  top_n?: number | null;
  return_documents?: boolean | null;
};
