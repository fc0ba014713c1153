import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { findCitations } from '../../hosted/find-citations.ts';
import type { SearchResult } from '../../hosted/hosted-outcome.ts';

/**
 * Returns an annotation for each address of a search result in a text (OpenAI API reference, "Web search"). The indices of an annotation
 * count Unicode characters. The end is exclusive.
 */
export function createUrlCitations(text: string, results: readonly SearchResult[]): JsonObject[] {
  let [units, characters] = [0, 0];
  /** Converts an offset from UTF-16 code units to characters. Offsets must not decrease from call to call. */
  const toCharacterIndex = (offset: number): number => {
    const passedText = text.slice(units, offset);
    characters += passedText.length - (passedText.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
    units = offset;
    return characters;
  };
  return findCitations(text, results).map(({ start, end, result: { url, title } }) => ({
    type: 'url_citation',
    start_index: toCharacterIndex(start),
    end_index: toCharacterIndex(end),
    url,
    title,
  }));
}

/** Adds annotations to a content part, unless the upstream has added some. */
export function addCitations(part: Json, results: readonly SearchResult[]): Json {
  if (!isJsonObject(part) || part['type'] !== 'output_text' || typeof part['text'] !== 'string') return part;
  const { annotations } = part;
  if (Array.isArray(annotations) && annotations.length > 0) return part;
  const newAnnotations = createUrlCitations(part['text'], results);
  return newAnnotations.length === 0 ? part : { ...part, annotations: newAnnotations };
}

/** Adds annotations to the content parts of a message item. */
export function addItemCitations(item: JsonObject, results: readonly SearchResult[]): JsonObject {
  const { type, content } = item;
  if (type !== 'message' || !Array.isArray(content) || results.length === 0) return item;
  return { ...item, content: content.map((part) => addCitations(part, results)) };
}
