/** One of this many suitable chunks is learned. */
const learningInterval = 8;
/** Maximum number of chunks that are learned from one stream. */
const maxLearned = 4;

/** The text that replaces the text of a chunk while the chunk is learned. */
export const probeText = 'any text';

/** Characters that JSON escapes. */
const escapedCharacter = /["\\\p{Cc}\p{Cs}]/u;

interface Frame {
  before: string;
  after: string;
}

/**
 * Recognizes chunks that differ from an earlier chunk of the stream only in their text, as nearly all chunks of an engine do. The text of
 * such a chunk is put between the bytes that were written around the earlier text. This avoids parsing and serializing, which are most of
 * the cost of a chunk. See docs/decisions/0023-repeated-chunks.md.
 */
export class ChunkTemplate {
  #receivedFrame: Frame | undefined;
  #writtenFrame: Frame = { before: '', after: '' };
  #chunkCount = 0;

  /** Returns the text of a chunk that equals the learned chunk except for its text; undefined for any other chunk. */
  findText(data: string): string | undefined {
    const frame = this.#receivedFrame;
    if (!frame || !data.startsWith(frame.before) || !data.endsWith(frame.after)) return undefined;
    const end = data.length - frame.after.length;
    if (end <= frame.before.length) return undefined;
    const text = data.slice(frame.before.length, end);
    return escapedCharacter.test(text) ? undefined : text;
  }

  /** Writes the learned chunk with another text. */
  write(text: string): string {
    const { before, after } = this.#writtenFrame;
    return `${before}${text}${after}`;
  }

  /**
   * Learns one of `learningInterval` chunks that are passed to this method, up to `maxLearned` chunks.
   * @param readText returns all text that the model wrote in the chunk
   * @param translate translates the same chunk with `probeText` as its text; returns undefined if the model's text in the translated chunk
   * is not exactly `probeText`
   */
  considerChunk(data: string, readText: () => string, translate: (data: string) => string | undefined): void {
    this.#chunkCount += 1;
    if (this.#chunkCount % learningInterval !== 0 || this.#chunkCount > learningInterval * maxLearned) return;
    const frame = findFrame(data, readText());
    const translated = frame && translate(`${frame.before}${probeText}${frame.after}`);
    const writtenFrame = translated === undefined ? undefined : findFrame(translated, probeText);
    if (!writtenFrame) return;
    this.#receivedFrame = frame;
    this.#writtenFrame = writtenFrame;
  }
}

/** Returns the parts of a JSON text before and after a string; undefined unless the string occurs exactly once. */
function findFrame(json: string, text: string): Frame | undefined {
  const quoted = JSON.stringify(text);
  const index = json.indexOf(quoted);
  if (index < 0 || json.includes(quoted, index + 1)) return undefined;
  return { before: copySlice(json.slice(0, index + 1)), after: copySlice(json.slice(index + quoted.length - 1)) };
}

/** Copies a slice, because a slice would keep its whole string in memory. */
function copySlice(slice: string): string {
  return Buffer.from(slice).toString();
}
