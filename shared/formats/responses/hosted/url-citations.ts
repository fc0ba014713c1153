import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { findCitations } from '../../hosted/find-citations.ts';
import type { SearchResult } from '../../hosted/hosted-outcome.ts';

/**
 * The annotations of a text that names addresses of results (OpenAI API reference, "Web search"). Their places count Unicode
 * characters, the end excluded.
 */
export function urlCitations(text: string, results: readonly SearchResult[]): JsonObject[] {
  let [units, characters] = [0, 0];
  /** Places are asked for in rising order. */
  const place = (offset: number): number => {
    const passed = text.slice(units, offset);
    characters += passed.length - (passed.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
    units = offset;
    return characters;
  };
  return findCitations(text, results).map(({ start, end, result: { url, title } }) => ({
    type: 'url_citation',
    start_index: place(start),
    end_index: place(end),
    url,
    title,
  }));
}

/** A part of a message with its annotations, unless its upstream has made some. */
export function citedPart(part: Json, results: readonly SearchResult[]): Json {
  if (!isJsonObject(part) || part['type'] !== 'output_text' || typeof part['text'] !== 'string') return part;
  const { annotations } = part;
  if (Array.isArray(annotations) && annotations.length > 0) return part;
  const own = urlCitations(part['text'], results);
  return own.length === 0 ? part : { ...part, annotations: own };
}

/** An item with the annotations of its parts. */
export function citedItem(item: JsonObject, results: readonly SearchResult[]): JsonObject {
  const { type, content } = item;
  if (type !== 'message' || !Array.isArray(content) || results.length === 0) return item;
  return { ...item, content: content.map((part) => citedPart(part, results)) };
}
