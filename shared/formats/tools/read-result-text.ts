import type { SearchResult } from '../hosted/hosted-outcome.ts';

/*
 * A page that a search has found may have any text. No pattern in this file may therefore match the same characters in several ways,
 * because the time for a line would then grow with the square of the line's length.
 */

/** A line that names one field of a result, such as `Title: …`, optionally after a bullet or in bold. */
const labelledLine =
  /^[\s*#>-]*(?:\d+[.)][\s*]*)?(?<label>title|url|link|source|published(?: date)?|date|age)\**\s*:\**(?<value>.*)$/is;

/** Matches a line that begins a numbered result: `1. …`. */
const numberedLine = /^\s*\d+[.)]\s[\s*]*(?<title>[^*\s][^*]*)\**$/;

const link = /\[(?<title>[^[\]]+)\]\((?<url>https?:\/\/(?:[^\s)\]]|\](?!\()){1,2048})\)/;
const address = /https?:\/\/[^\s<>"')\]]+/;

/** Matches a label in front of a text. The text is stored without the label. */
const textLabel = /^\s*(?:content|description|summary|snippet|text|highlights?)\s*:\s*/i;

/**
 * Reads search results that a tool has written for people, that is, lines such as `Title: …` and `URL: …`, numbered titles, or Markdown
 * links. A result begins with its title, or with its address if no title comes before the address.
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
    const linkParts = link.exec(line)?.groups;
    if (/^title$/i.test(label)) beginResult(value.trim(), '');
    else if (/^(?:url|link|source)$/i.test(label) && address.test(value)) {
      if (!openResult || openResult.url !== '') beginResult('', '');
      if (openResult) openResult.url = address.exec(value)?.[0] ?? '';
    } else if (label !== '' && openResult && !address.test(value)) openResult.age = value.trim();
    else if (linkParts) beginResult(linkParts['title'] ?? '', linkParts['url'] ?? '');
    else if (title !== undefined) beginResult(title.trimEnd(), '');
    else if (openResult) openResult.text += `${line.replace(textLabel, '')}\n`;
  }
  return results
    .filter(({ url }) => URL.canParse(url))
    .map(({ title, url, text: body, age }) => ({ title: title || url, url, text: body.trim(), age }));
}
