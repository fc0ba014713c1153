import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

const chunkBytes = 64 * 1024;

/** Reads one log file: its last lines, then the lines that are added, also after it was put aside for a new one. */
export class LogReader {
  readonly #path: string;
  #file: number | undefined;
  #position = 0;
  /** The beginning of a line that is not yet complete. */
  #rest = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the last lines, oldest first, and moves to the end of the file. */
  readLast(count: number): string[] {
    if (this.#file === undefined && !this.#open()) return [];
    const file = this.#file as number;
    const end = fstatSync(file).size;
    let start = end;
    let bytes = Buffer.alloc(0);
    let lines: string[] = [];
    while (start > 0 && lines.length <= count) {
      const from = Math.max(0, start - chunkBytes);
      bytes = Buffer.concat([readBytes(file, from, start - from), bytes]);
      start = from;
      lines = bytes.toString('utf8').split('\n');
    }
    this.#position = end - Buffer.byteLength(lines.pop() ?? '');
    return count === 0 ? [] : lines.slice(start > 0 ? Math.max(1, lines.length - count) : -count);
  }

  /** Returns the lines that were added since the last call. */
  readNew(): string[] {
    if (this.#file === undefined && !this.#open()) return [];
    const lines = this.#readToEnd();
    if (this.#isPutAside()) {
      this.close();
      if (this.#open()) lines.push(...this.#readToEnd());
    }
    return lines;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#position = 0;
    this.#rest = Buffer.alloc(0);
  }

  #open(): boolean {
    try {
      this.#file = openSync(this.#path, 'r');
      return true;
    } catch (error) {
      // The file is just being put aside, or its part has logged nothing yet.
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
      throw error;
    }
  }

  #readToEnd(): string[] {
    const file = this.#file as number;
    const added = readBytes(file, this.#position, fstatSync(file).size - this.#position);
    this.#position += added.length;
    const bytes = Buffer.concat([this.#rest, added]);
    const end = bytes.lastIndexOf('\n') + 1;
    this.#rest = bytes.subarray(end);
    return bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1);
  }

  #isPutAside(): boolean {
    const current = statSync(this.#path, { throwIfNoEntry: false });
    return current?.ino !== fstatSync(this.#file as number).ino;
  }
}

function readBytes(file: number, position: number, length: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(Math.max(0, length));
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, position));
}
