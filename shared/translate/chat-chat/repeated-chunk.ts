/** Chunks that are translated in the usual way before one is learned, and times that one is learned in a stream. */
const chunksBefore = 8;
const maxLearned = 4;

/** Stands for the text of a chunk that is learned. */
export const probeText = 'any text';

/** What JSON writes otherwise than as it is. */
const escaped = /["\\\p{Cc}\p{Cs}]/u;

interface Around {
  before: string;
  after: string;
}

/**
 * Recognizes the chunks of a stream that differ from an earlier one in their text alone, as nearly all of an engine's do. Their
 * text is put between what was written around the earlier one's: nothing is parsed and serialized, which is most of what a chunk
 * costs. See docs/decisions/0023-repeated-chunks.md.
 */
export class RepeatedChunk {
  #given: Around | undefined;
  #written: Around = { before: '', after: '' };
  #seen = 0;

  /** The text of a chunk like the learned one; undefined for any other chunk. */
  textIn(data: string): string | undefined {
    const given = this.#given;
    if (!given || !data.startsWith(given.before) || !data.endsWith(given.after)) return undefined;
    const end = data.length - given.after.length;
    if (end <= given.before.length) return undefined;
    const text = data.slice(given.before.length, end);
    return escaped.test(text) ? undefined : text;
  }

  /** What is written for a chunk like the learned one with this text. */
  write(text: string): string {
    const { before, after } = this.#written;
    return `${before}${text}${after}`;
  }

  /**
   * Learns a chunk, if it has seen enough of them.
   * @param textOf all that the model wrote in it
   * @param translate translates the same chunk with `probeText`; returns nothing if the model did not write just that in it
   */
  learn(data: string, textOf: () => string, translate: (data: string) => string | undefined): void {
    this.#seen += 1;
    if (this.#seen % chunksBefore !== 0 || this.#seen > chunksBefore * maxLearned) return;
    const given = around(data, textOf());
    const translated = given && translate(`${given.before}${probeText}${given.after}`);
    const written = translated === undefined ? undefined : around(translated, probeText);
    if (!written) return;
    this.#given = given;
    this.#written = written;
  }
}

/** What stands before and after a text in JSON in which it occurs once. */
function around(json: string, text: string): Around | undefined {
  const quoted = JSON.stringify(text);
  const at = json.indexOf(quoted);
  if (at < 0 || json.includes(quoted, at + 1)) return undefined;
  return { before: copyOf(json.slice(0, at + 1)), after: copyOf(json.slice(at + quoted.length - 1)) };
}

/** A slice would keep all of its string in memory. */
function copyOf(slice: string): string {
  return Buffer.from(slice).toString();
}
