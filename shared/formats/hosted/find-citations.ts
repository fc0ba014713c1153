import type { SearchResult } from './hosted-outcome.ts';

/** A range of a text that contains the address of a search result. */
export interface Citation {
  /** Offsets in the text in UTF-16 code units; `end` is exclusive. The citation of a Markdown link covers the whole link. */
  start: number;
  end: number;
  result: SearchResult;
}

/** Matches a possible address, up to whitespace or a character that no address contains unescaped. */
const candidatePattern = /https?:\/\/[^\s<>"`\]\\]{1,2048}/gi;

/** Matches a character at the end of a candidate that may belong to the sentence around it. */
const sentencePunctuation = /[.,;:!?'’”_~}]$/;

/** Matches from the last character of a candidate at which an address may end before other text. */
const lastBreak = /[^ -(+-{}~][ -(+-{}~]*$/;

/** A candidate is shortened at most this many times. */
const maxShortenings = 16;

const maxLabelLength = 500;

/** Finds the addresses of search results in a text, plain or in a Markdown link. Returns the citations in the order of the text. */
export function findCitations(text: string, results: readonly SearchResult[]): Citation[] {
  if (results.length === 0 || !text.includes('://')) return [];
  const pages = results.filter(({ url }) => /^https?:/i.test(url));
  // If two results have the same address, the first one counts.
  const resultsByUrl = new Map(pages.toReversed().map((result) => [toKey(result.url), result]));
  const citations = [...text.matchAll(candidatePattern)].flatMap(({ 0: candidate, index }): Citation[] => {
    const namedResult = findNamedResult(candidate, resultsByUrl);
    return namedResult
      ? [{ ...findLinkAround(text, index, index + namedResult.length), result: namedResult.result }]
      : [];
  });
  return removeLabels(citations);
}

/** Removes citations inside the text of a link. That text may itself be an address, but the citation of the link covers it. */
function removeLabels(citations: readonly Citation[]): Citation[] {
  let nextStart = Number.POSITIVE_INFINITY;
  const outside = citations.toReversed().filter(({ start }) => {
    const isOutside = start < nextStart;
    nextStart = Math.min(nextStart, start);
    return isOutside;
  });
  return outside.toReversed();
}

function toKey(url: string): string {
  return URL.parse(url)?.href ?? url;
}

/** Returns the search result that a candidate names, and the length of the address. An address with a fragment also names its page. */
function findNamedResult(
  candidate: string,
  resultsByUrl: ReadonlyMap<string, SearchResult>,
): { result: SearchResult; length: number } | undefined {
  let url = candidate;
  for (let shortened = 0; shortened <= maxShortenings && url !== ''; shortened++) {
    const fragmentStart = url.indexOf('#');
    const result =
      resultsByUrl.get(toKey(url)) ??
      (fragmentStart < 0 ? undefined : resultsByUrl.get(toKey(url.slice(0, fragmentStart))));
    if (result) return { result, length: url.length };
    const end = sentencePunctuation.test(url) ? url.length - 1 : url.search(lastBreak);
    url = url.slice(0, Math.max(0, end));
  }
  return undefined;
}

/**
 * Returns the range of the Markdown link `[text](address)` around an address; if there is no such link, the range of the address itself.
 */
function findLinkAround(text: string, start: number, end: number): { start: number; end: number } {
  const addressRange = { start, end };
  if (!text.startsWith('](', start - 2)) return addressRange;
  const closing = /^(?:[ \t]+"[^"\n]*")?\)/.exec(text.slice(end, end + maxLabelLength));
  if (!closing) return addressRange;
  let openBrackets = 1;
  for (let at = start - 3; at >= 0 && at > start - maxLabelLength; at--) {
    if (text[at] === '\n') return addressRange;
    if (text[at] === ']') openBrackets += 1;
    else if (text[at] === '[') openBrackets -= 1;
    if (openBrackets === 0) return { start: at, end: end + closing[0].length };
  }
  return addressRange;
}
