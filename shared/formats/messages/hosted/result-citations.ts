import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { findCitations } from '../../hosted/find-citations.ts';
import type { SearchResult } from '../../hosted/hosted-outcome.ts';

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

/** Start of an `encrypted_content` that the router has written. */
const textPrefix = 'rtr1.';

/** Start of the ids of calls that the router has run. */
const callIdPrefix = 'srvtoolu_rtr_';

/**
 * Encodes the text of a result for its block. Clients read only the title and address of the block, and send the block back with the next
 * request. The text is not encrypted, because it is not secret.
 */
export function encodeResultText(text: string): string {
  return textPrefix + Buffer.from(text).toString('base64url');
}

/** Decodes a text that `encodeResultText` returned; undefined for the text of another upstream, which only that upstream can read. */
export function decodeResultText(encodedText: string): string | undefined {
  return encodedText.startsWith(textPrefix)
    ? Buffer.from(encodedText.slice(textPrefix.length), 'base64url').toString()
    : undefined;
}

/** Converts the model's id of a hosted call to the client's id. */
export function toHostedCallId(id: string): string {
  return callIdPrefix + id;
}

/** Converts the client's id of a hosted call to the model's id. */
export function toModelCallId(id: string): string {
  return id.slice(callIdPrefix.length);
}

/** Whether an id belongs to a call that the router has run. */
export function isOwnCallId(id: string): boolean {
  return id.startsWith(callIdPrefix);
}
