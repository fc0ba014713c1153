import type { SearchResult } from './hosted-outcome.ts';

/** A place in a text that names the address of a result. */
export interface Citation {
  /** Offsets in the text, in UTF-16 code units; `end` is that of what follows. A link in Markdown is cited as a whole. */
  start: number;
  end: number;
  result: SearchResult;
}

/** What may be an address. It ends before what separates words, and before signs that stand for themselves in no address. */
const candidate = /https?:\/\/[^\s<>"`\]\\]{1,2048}/gi;

/** A sign at the end of a candidate that may be of the sentence around it. */
const ofSentence = /[.,;:!?'’”_~}]$/;

/** The last sign of a candidate at which an address may end before further text: `)`, `*`, `|` and all that is not in ASCII. */
const lastBreak = /[^ -(+-{}~][ -(+-{}~]*$/;

/** Most signs that are taken away from a candidate. */
const mostTaken = 16;

/** Most characters of a link's text. */
const longestLabel = 500;

/** Finds the results whose address a text names, as it is or in a link, in the order of the text. */
export function findCitations(text: string, results: readonly SearchResult[]): Citation[] {
  if (results.length === 0 || !text.includes('://')) return [];
  const pages = results.filter(({ url }) => /^https?:/i.test(url));
  // Of two results with one address, the first one counts.
  const known = new Map(pages.toReversed().map((result) => [keyOf(result.url), result]));
  const found = [...text.matchAll(candidate)].flatMap(({ 0: written, index }): Citation[] => {
    const named = resultNamed(written, known);
    return named ? [{ ...linkAround(text, index, index + named.length), result: named.result }] : [];
  });
  return withoutLabels(found);
}

/** The text of a link may be its address, which then stands in the citation of the link. */
function withoutLabels(found: readonly Citation[]): Citation[] {
  let first = Number.POSITIVE_INFINITY;
  const kept = found.toReversed().filter(({ start }) => {
    const isOutside = start < first;
    first = Math.min(first, start);
    return isOutside;
  });
  return kept.toReversed();
}

function keyOf(url: string): string {
  return URL.parse(url)?.href ?? url;
}

/** The result that a candidate names, and how much of it is the address. A place within a page names the page. */
function resultNamed(
  written: string,
  known: ReadonlyMap<string, SearchResult>,
): { result: SearchResult; length: number } | undefined {
  let url = written;
  for (let taken = 0; taken <= mostTaken && url !== ''; taken++) {
    const place = url.indexOf('#');
    const result = known.get(keyOf(url)) ?? (place < 0 ? undefined : known.get(keyOf(url.slice(0, place))));
    if (result) return { result, length: url.length };
    const end = ofSentence.test(url) ? url.length - 1 : url.search(lastBreak);
    url = url.slice(0, Math.max(0, end));
  }
  return undefined;
}

/** The link in Markdown whose address stands at a place, `[text](address)`; the place itself if there is none around it. */
function linkAround(text: string, start: number, end: number): { start: number; end: number } {
  const plain = { start, end };
  if (!text.startsWith('](', start - 2)) return plain;
  const closing = /^(?:[ \t]+"[^"\n]*")?\)/.exec(text.slice(end, end + longestLabel));
  if (!closing) return plain;
  let open = 1;
  for (let at = start - 3; at >= 0 && at > start - longestLabel; at--) {
    if (text[at] === '\n') return plain;
    if (text[at] === ']') open += 1;
    else if (text[at] === '[') open -= 1;
    if (open === 0) return { start: at, end: end + closing[0].length };
  }
  return plain;
}
