import { isJsonObject, parseIfJson, type Json, type JsonObject } from '#shared/core/json.ts';
import type { SearchResult } from '../hosted/hosted-outcome.ts';
import type { ToolResult } from './tool-result.ts';

/** Names of the fields in a search tool's results, if they differ from the usual names. */
export interface ResultFields {
  /** The field that contains the list. */
  list?: string | undefined;
  title?: string | undefined;
  url?: string | undefined;
  text?: string | undefined;
  age?: string | undefined;
}

/** The usual field names of search tools. If a result has several of these fields, the first name in the list counts. */
const usualFields: Readonly<Record<'title' | 'url' | 'text' | 'age', readonly string[]>> = {
  title: ['title', 'name', 'heading'],
  url: ['url', 'link', 'href', 'uri'],
  text: ['content', 'text', 'snippet', 'description', 'summary', 'excerpt', 'extract', 'highlights', 'extra_snippets'],
  age: ['page_age', 'published_date', 'publishedDate', 'date', 'age', 'published'],
};

/** Maximum depth of the search for a list of results. */
const maxDepth = 4;

/**
 * Reads the pages that a search tool has found. Tries its structured content, JSON in its texts, links to resources, and its plain text
 * (see `readResultText`), in this order. An output without an address becomes one result with the address
 * `about:blank`, so that its text is kept.
 */
export function readSearchResults(
  { content, structured_content: structured }: Pick<ToolResult, 'content' | 'structured_content'>,
  fields: ResultFields = {},
): SearchResult[] {
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  // A tool's output consists of JSON values only.
  const data = [structured as Json | undefined, ...texts.map(parseJson)].filter((value) => value !== undefined);
  const dataResults = data.flatMap((value) => findResults(value, fields, maxDepth));
  // Tools repeat their structured content as text, for clients that read only text.
  if (dataResults.length > 0) return [...new Map(dataResults.map((result) => [result.url, result])).values()];
  const links = content.flatMap((block) =>
    block.type === 'resource_link' ? toResult(block as JsonObject, fields) : [],
  );
  if (links.length > 0) return links;
  const text = texts.join('\n\n').trim();
  const textResults = readResultText(text);
  return textResults.length > 0 || text === ''
    ? textResults
    : [{ title: 'Results', url: 'about:blank', text, age: undefined }];
}

function parseJson(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  return parseIfJson(text);
}

/** Returns the first list of results at or below a value, or the value itself as one result. */
function findResults(value: Json, fields: ResultFields, levels: number): SearchResult[] {
  if (Array.isArray(value)) return value.flatMap((each) => (isJsonObject(each) ? toResult(each, fields) : []));
  if (!isJsonObject(value) || levels === 0) return [];
  const ownResult = toResult(value, fields);
  if (ownResult.length > 0) return ownResult;
  const listField = fields.list === undefined ? undefined : value[fields.list];
  const innerValues = listField === undefined ? Object.values(value) : [listField];
  for (const inner of innerValues) {
    const results = inner === undefined ? [] : findResults(inner, fields, levels - 1);
    if (results.length > 0) return results;
  }
  return [];
}

function toResult(value: JsonObject, fields: ResultFields): SearchResult[] {
  const url = readText(value, 'url', fields);
  if (!URL.canParse(url)) return [];
  const title = readText(value, 'title', fields);
  const age = readText(value, 'age', fields);
  return [{ title: title || url, url, text: readText(value, 'text', fields), age: age || undefined }];
}

function readText(value: JsonObject, kind: keyof typeof usualFields, fields: ResultFields): string {
  const field = fields[kind];
  const names = field === undefined ? usualFields[kind] : [field];
  const texts = names.map((name) => toText(value[name]));
  return texts.find((text) => text !== '') ?? '';
}

function toText(value: Json | undefined): string {
  if (typeof value === 'string') return value.trim();
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string').join('\n') : '';
}

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
function readResultText(text: string): SearchResult[] {
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
