import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { findCitations } from '../../hosted/find-citations.ts';
import type { SearchResult } from '../../hosted/hosted-outcome.ts';
import { decodeResultText, encodeResultText } from './result-text-encoding.ts';

/**
 * Returns the citations of a text that names addresses of search results, one per result (Anthropic API reference, "Web search tool").
 * `cited_text` is empty, because the passage that the model used is unknown.
 */
export function createResultCitations(text: string, results: readonly SearchResult[]): JsonObject[] {
  const cited = new Set(findCitations(text, results).map(({ result }) => result));
  return [...cited].map(({ url, title }) => ({
    type: 'web_search_result_location',
    url,
    title,
    encrypted_index: encodeResultText(url),
    cited_text: '',
  }));
}

/** Whether the router has made a citation. Upstreams refuse citations that they have not written. */
export function isOwnCitation(citation: Json): boolean {
  const index = isJsonObject(citation) ? citation['encrypted_index'] : undefined;
  return typeof index === 'string' && decodeResultText(index) !== undefined;
}
