import type { HintKind, Hints } from './find-hints.ts';

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
