import { RouterError } from '#shared/core/errors.ts';

/** Far more than any line of a protocol; a line that grows longer is none. */
const maxLineBytes = 16 * 1024 * 1024;

const newline = 0x0a;

/** Cuts bytes into lines. Holds what has no end yet, up to a bound. */
export class LineSplitter {
  #held: Buffer[] = [];
  #heldBytes = 0;

  /**
   * Takes bytes and returns the lines that they complete, without their ends; empty ones are left out.
   * @throws RouterError `upstream_failed` when a line is too long
   */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const line = this.#take(chunk.subarray(start, end)).trim();
      if (line !== '') lines.push(line);
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    this.#heldBytes += rest.length;
    if (this.#heldBytes > maxLineBytes) throw new RouterError('upstream_failed', 'The CLI printed a line without end.');
    if (rest.length > 0) this.#held.push(rest);
    return lines;
  }

  #take(end: Buffer): string {
    const line = this.#held.length === 0 ? end.toString() : Buffer.concat([...this.#held, end]).toString();
    this.#held = [];
    this.#heldBytes = 0;
    return line;
  }
}
