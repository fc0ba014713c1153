import { isJsonObject, parseIfJson, type Json, type JsonObject } from '#shared/core/json.ts';
import type { SearchResult } from '../hosted/hosted-outcome.ts';
import { readResultText } from './read-result-text.ts';
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
