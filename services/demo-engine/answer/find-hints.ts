export type HintKind = 'quoted' | 'path' | 'url' | 'name' | 'number';

/** Values from the user's text, for the arguments of a tool call. */
export type Hints = Record<HintKind, string[]> & {
  /** The whole text, for arguments that are sentences, and to find `name=value`. */
  text: string;
};

const quotePattern =
  /"([^"\n]{1,500})"|“([^”\n]{1,500})”|`([^`\n]{1,500})`|(?<![\p{L}\p{N}])'([^'\n]{1,500})'(?![\p{L}\p{N}])/gu;
const urlPattern = /\bhttps?:\/\/[^\s"'`<>)\]]+/g;
const pathPattern =
  /(?<![\w/.~-])(?:(?:~|\.{1,2})?\/[^\s"'`<>|,;()]+|[A-Za-z]:\\[^\s"'`<>|,;()]+|[\w-]{2,}(?:\/[\w.-]+)*\.[A-Za-z]\w{0,7}(?!\w))/g;
const namePattern =
  /(?:\b(?:in|at|for|of|from|to|about|and|or)|,)\s+(\p{Lu}[\p{L}\p{N}'-]*(?: \p{Lu}[\p{L}\p{N}'-]*)*)/gu;
const numberPattern = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w])/g;

/** Finds possible arguments in a text: words in quotation marks, paths, URLs, names and numbers. */
export function findHints(text: string): Hints {
  const quoted = removeDuplicates([...text.matchAll(quotePattern)].map((match) => match.slice(1).find(Boolean) ?? ''));
  const withoutUrls = text.replaceAll(urlPattern, ' ');
  const quotedPaths = quoted.filter((words) => /^(?:~|\.{1,2})?\//.test(words));
  const plainPaths = [...withoutUrls.matchAll(pathPattern)].map(([path]) => trimEnd(path));
  return {
    text,
    quoted: quoted.filter((words) => !quotedPaths.includes(words)),
    path: removeDuplicates([
      ...quotedPaths,
      ...plainPaths.filter((path) => !quotedPaths.some((longer) => longer.startsWith(path))),
    ]).toSorted((a, b) => text.indexOf(a) - text.indexOf(b)),
    url: removeDuplicates([...text.matchAll(urlPattern)].map(([url]) => trimEnd(url))),
    name: removeDuplicates([...withoutUrls.matchAll(namePattern)].map((match) => match[1] ?? '')),
    number: [...withoutUrls.matchAll(numberPattern)].map(([number]) => number),
  };
}

function trimEnd(word: string): string {
  return word.replace(/[.,:;!?]+$/, '');
}

function removeDuplicates(words: readonly string[]): string[] {
  return [...new Set(words)];
}

/**
 * The hints for one call. Each hint is taken once, so that the arguments of the call differ. The n-th of several calls begins with the n-th
 * hint of each kind, so that parallel calls also differ.
 */
export class HintPool {
  readonly text: string;
  readonly #hintsLeft: Record<HintKind, string[]>;

  constructor(hints: Hints, call = 0) {
    const skipHints = (kind: HintKind): string[] =>
      hints[kind].length > call ? hints[kind].slice(call) : [...hints[kind]];
    this.text = hints.text;
    this.#hintsLeft = {
      quoted: skipHints('quoted'),
      path: skipHints('path'),
      url: skipHints('url'),
      name: skipHints('name'),
      number: skipHints('number'),
    };
  }

  /** Removes and returns the next hint that fits, of the first kind that has such a hint. */
  take(kinds: readonly HintKind[], fits: (hint: string) => boolean = () => true): string | undefined {
    for (const kind of kinds) {
      const at = this.#hintsLeft[kind].findIndex(fits);
      if (at >= 0) return this.#hintsLeft[kind].splice(at, 1)[0];
    }
    return undefined;
  }

  /** Returns the value that the user wrote as `property=value` or `property: value`. */
  findNamed(property: string): string | undefined {
    if (property === '') return undefined;
    const name = property.replaceAll(/\W/g, String.raw`\$&`);
    const match = new RegExp(`(?<![\\w-])${name}\\s*[=:]\\s*(?:"([^"]*)"|\`([^\`]*)\`|([^\\s,;]+))`).exec(this.text);
    return match?.slice(1).find((value) => value !== undefined);
  }
}
