/** Of this many suitable chunks, the last one is learned. */
const chunksBefore = 8;
/** A stream learns at most this many chunks. */
const maxLearned = 4;

/** The text that replaces the text of a chunk while the chunk is learned. */
export const probeText = 'any text';

/** Characters that JSON escapes. */
const escaped = /["\\\p{Cc}\p{Cs}]/u;

interface Around {
  before: string;
  after: string;
}

/**
 * Recognizes chunks that differ from an earlier chunk of the stream only in their text, as nearly all chunks of an engine do. Such a text
 * is put between the bytes that were written around the earlier text. This avoids parsing and serializing, which are most of the cost of a
 * chunk. See docs/decisions/0023-repeated-chunks.md.
 */
export class ChunkTemplate {
  #frame: Around | undefined;
  #written: Around = { before: '', after: '' };
  #seen = 0;

  /** Returns the text of a chunk like the learned one; undefined for any other chunk. */
  textIn(data: string): string | undefined {
    const frame = this.#frame;
    if (!frame || !data.startsWith(frame.before) || !data.endsWith(frame.after)) return undefined;
    const end = data.length - frame.after.length;
    if (end <= frame.before.length) return undefined;
    const text = data.slice(frame.before.length, end);
    return escaped.test(text) ? undefined : text;
  }

  /** Writes a chunk like the learned one with this text. */
  write(text: string): string {
    const { before, after } = this.#written;
    return `${before}${text}${after}`;
  }

  /**
   * Learns every eighth of the chunks that are passed to it, up to `maxLearned` chunks.
   * @param textOf returns all that the model wrote in the chunk
   * @param translate translates the same chunk with `probeText` as its text; returns undefined if `probeText` is not all that the model
   * wrote in it
   */
  considerChunk(data: string, textOf: () => string, translate: (data: string) => string | undefined): void {
    this.#seen += 1;
    if (this.#seen % chunksBefore !== 0 || this.#seen > chunksBefore * maxLearned) return;
    const frame = around(data, textOf());
    const translated = frame && translate(`${frame.before}${probeText}${frame.after}`);
    const written = translated === undefined ? undefined : around(translated, probeText);
    if (!written) return;
    this.#frame = frame;
    this.#written = written;
  }
}

/** Returns the parts of a JSON text before and after a string; undefined unless the string occurs exactly once. */
function around(json: string, text: string): Around | undefined {
  const quoted = JSON.stringify(text);
  const at = json.indexOf(quoted);
  if (at < 0 || json.includes(quoted, at + 1)) return undefined;
  return { before: copyOf(json.slice(0, at + 1)), after: copyOf(json.slice(at + quoted.length - 1)) };
}

/** Returns a copy of a slice, because a slice would keep its whole string in memory. */
function copyOf(slice: string): string {
  return Buffer.from(slice).toString();
}
