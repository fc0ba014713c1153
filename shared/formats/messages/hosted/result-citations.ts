import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { findCitations } from '../../hosted/find-citations.ts';
import type { SearchResult } from '../../hosted/hosted-outcome.ts';
import { decodeResultText, encodeResultText } from './result-text-encoding.ts';

/**
 * Returns one citation for each search result that a text names by its address (Anthropic API reference, "Web search tool"). `cited_text`
 * is empty, because the passage that the model used is unknown.
 */
export function createResultCitations(text: string, results: readonly SearchResult[]): JsonObject[] {
  const citedResults = new Set(findCitations(text, results).map(({ result }) => result));
  return [...citedResults].map(({ url, title }) => ({
    type: 'web_search_result_location',
    url,
    title,
    encrypted_index: encodeResultText(url),
    cited_text: '',
  }));
}

/** Whether the router has written a citation. An upstream refuses citations that it has not written. */
export function isOwnCitation(citation: Json): boolean {
  const index = isJsonObject(citation) ? citation['encrypted_index'] : undefined;
  return typeof index === 'string' && decodeResultText(index) !== undefined;
}
