import type { SearchResult } from '../hosted/hosted-outcome.ts';

/*
 * Search results may contain any text. If a pattern in this file could match the same characters in several ways, the time for a line would
 * grow with the square of its length. No pattern may do that.
 */

/** A line that names one field of a result, such as `Title: …`, optionally after a bullet or in bold. */
const labelledLine =
  /^[\s*#>-]*(?:\d+[.)][\s*]*)?(?<label>title|url|link|source|published(?: date)?|date|age)\**\s*:\**(?<value>.*)$/is;

/** Matches a line that begins a numbered result: `1. …`. */
const numberedLine = /^\s*\d+[.)]\s[\s*]*(?<title>[^*\s][^*]*)\**$/;

const linkPattern = /\[(?<title>[^[\]]+)\]\((?<url>https?:\/\/(?:[^\s)\]]|\](?!\()){1,2048})\)/;
const addressPattern = /https?:\/\/[^\s<>"')\]]+/;

/** Matches a label in front of a text. The text is stored without the label. */
const textLabel = /^\s*(?:content|description|summary|snippet|text|highlights?)\s*:\s*/i;

/**
 * Reads search results from a text for people: from lines such as `Title: …` and `URL: …`, numbered titles, or Markdown links. A result
 * begins with its title, or with its address if no title precedes the address.
 */
export function readResultText(text: string): SearchResult[] {
  const results: SearchResult[] = [];
  let openResult: SearchResult | undefined;
  const beginResult = (title: string, url: string): void => {
    openResult = { title, url, text: '', age: undefined };
    results.push(openResult);
  };
  for (const line of text.split('\n')) {
    const { label = '', value = '' } = labelledLine.exec(line)?.groups ?? {};
    const { title } = numberedLine.exec(line.trimEnd())?.groups ?? {};
    const linkParts = linkPattern.exec(line)?.groups;
    if (/^title$/i.test(label)) beginResult(value.trim(), '');
    else if (/^(?:url|link|source)$/i.test(label) && addressPattern.test(value)) {
      if (!openResult || openResult.url !== '') beginResult('', '');
      if (openResult) openResult.url = addressPattern.exec(value)?.[0] ?? '';
    } else if (label !== '' && openResult && !addressPattern.test(value)) openResult.age = value.trim();
    else if (linkParts) beginResult(linkParts['title'] ?? '', linkParts['url'] ?? '');
    else if (title !== undefined) beginResult(title.trimEnd(), '');
    else if (openResult) openResult.text += `${line.replace(textLabel, '')}\n`;
  }
  return results
    .filter(({ url }) => URL.canParse(url))
    .map(({ title, url, text: body, age }) => ({ title: title || url, url, text: body.trim(), age }));
}
