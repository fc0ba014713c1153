import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { writeResultsText, type SearchResult } from '../../hosted/hosted-outcome.ts';
import type { HostedResultBlock } from '../request.ts';
import { decodeResultText } from './result-text-encoding.ts';

/**
 * Returns the text of a hosted call's result that a client sends back, as the model read it. For results of another upstream, the text has
 * only titles and addresses.
 */
export function readHostedResultText({ content }: HostedResultBlock): string {
  if (Array.isArray(content))
    return writeResultsText(content.flatMap((each) => (isJsonObject(each) ? toSearchResult(each) : [])));
  if (!isJsonObject(content)) return '';
  const { error_code: code, url, content: document } = content;
  if (typeof code === 'string') return `Error: ${code}`;
  const source = isJsonObject(document) ? document['source'] : undefined;
  const text = isJsonObject(source) && source['type'] === 'text' ? textOrEmpty(source['data']) : '';
  return text === '' ? textOrEmpty(url) : text;
}

function toSearchResult({ title, url, page_age: age, encrypted_content: sealed }: JsonObject): SearchResult[] {
  return [
    {
      title: textOrEmpty(title),
      url: textOrEmpty(url),
      text: decodeResultText(textOrEmpty(sealed)) ?? '',
      age: textOrEmpty(age) || undefined,
    },
  ];
}

function textOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
