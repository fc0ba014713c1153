import { isJsonObject, toTextOrEmpty, type JsonObject } from '#shared/core/json.ts';
import { writeResultsText, type SearchResult } from '../../hosted/hosted-outcome.ts';
import type { HostedResultBlock } from '../request.ts';
import { decodeResultText } from './result-text-encoding.ts';

/**
 * Returns the text of a hosted call's result, as the model read it, from the block that the client sends back. Search results of another
 * upstream are without the text of their pages, because only that upstream can decrypt it.
 */
export function readHostedResultText({ content }: HostedResultBlock): string {
  if (Array.isArray(content))
    return writeResultsText(content.flatMap((result) => (isJsonObject(result) ? toSearchResult(result) : [])));
  if (!isJsonObject(content)) return '';
  const { error_code: code, url, content: document } = content;
  if (typeof code === 'string') return `Error: ${code}`;
  const source = isJsonObject(document) ? document['source'] : undefined;
  const text = isJsonObject(source) && source['type'] === 'text' ? toTextOrEmpty(source['data']) : '';
  return text === '' ? toTextOrEmpty(url) : text;
}

function toSearchResult({ title, url, page_age: age, encrypted_content: sealed }: JsonObject): SearchResult[] {
  return [
    {
      title: toTextOrEmpty(title),
      url: toTextOrEmpty(url),
      text: decodeResultText(toTextOrEmpty(sealed)) ?? '',
      age: toTextOrEmpty(age) || undefined,
    },
  ];
}
