export type HintKind = 'quoted' | 'path' | 'url' | 'name' | 'number';

/** Values from the user's text, for the arguments of a tool call. */
export type Hints = Record<HintKind, string[]> & {
  /** The whole text, for arguments that are sentences, and for look-ups of `name=value`. */
  text: string;
};

const quotes =
  /"([^"\n]{1,500})"|“([^”\n]{1,500})”|`([^`\n]{1,500})`|(?<![\p{L}\p{N}])'([^'\n]{1,500})'(?![\p{L}\p{N}])/gu;
const urls = /\bhttps?:\/\/[^\s"'`<>)\]]+/g;
const paths =
  /(?<![\w/.~-])(?:(?:~|\.{1,2})?\/[^\s"'`<>|,;()]+|[A-Za-z]:\\[^\s"'`<>|,;()]+|[\w-]{2,}(?:\/[\w.-]+)*\.[A-Za-z]\w{0,7}(?!\w))/g;
const names = /(?:\b(?:in|at|for|of|from|to|about|and|or)|,)\s+(\p{Lu}[\p{L}\p{N}'-]*(?: \p{Lu}[\p{L}\p{N}'-]*)*)/gu;
const numbers = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w])/g;

/** Finds possible arguments in a text: words in quotation marks, paths, URLs, names and numbers. */
export function findHints(text: string): Hints {
  const quoted = distinct([...text.matchAll(quotes)].map((match) => match.slice(1).find(Boolean) ?? ''));
  const withoutUrls = text.replaceAll(urls, ' ');
  const quotedPaths = quoted.filter((words) => /^(?:~|\.{1,2})?\//.test(words));
  const plainPaths = [...withoutUrls.matchAll(paths)].map(([path]) => trimEnd(path));
  return {
    text,
    quoted: quoted.filter((words) => !quotedPaths.includes(words)),
    path: distinct([
      ...quotedPaths,
      ...plainPaths.filter((path) => !quotedPaths.some((longer) => longer.startsWith(path))),
    ]).toSorted((one, other) => text.indexOf(one) - text.indexOf(other)),
    url: distinct([...text.matchAll(urls)].map(([url]) => trimEnd(url))),
    name: distinct([...withoutUrls.matchAll(names)].map((match) => match[1] ?? '')),
    number: [...withoutUrls.matchAll(numbers)].map(([number]) => number),
  };
}

function trimEnd(word: string): string {
  return word.replace(/[.,:;!?]+$/, '');
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)];
}
