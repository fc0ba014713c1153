import { appendFileSync, renameSync, statSync } from 'node:fs';

/** Maximum bytes of a part's file. A full file becomes the part's previous file, which replaces the one before. */
const maxFileBytes = 8 * 1024 * 1024;
/** Lines are written when they have this many characters, or after `writeEveryMs`. */
const writeAtLength = 64 * 1024;
const writeEveryMs = 200;

export interface LogFileOptions {
  maxBytes?: number;
  /** Called when a full file was put aside. */
  onRotated: () => void;
  /** Called when lines could not be written; they are dropped. */
  onFailure: (error: unknown) => void;
}

/** A log file that is bounded in size. Lines are written in batches. */
export class LogFile {
  readonly #path: string;
  readonly #options: LogFileOptions;
  #lines = '';
  #bytes: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(path: string, options: LogFileOptions) {
    this.#path = path;
    this.#options = options;
  }

  write(line: string): void {
    this.#lines += `${line}\n`;
    if (this.#lines.length >= writeAtLength) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), writeEveryMs).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines === '') return;
    const batch = Buffer.from(this.#lines);
    this.#lines = '';
    try {
      this.#bytes ??= statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
      if (this.#bytes > 0 && this.#bytes + batch.length > (this.#options.maxBytes ?? maxFileBytes)) {
        renameSync(this.#path, toPreviousFile(this.#path));
        this.#bytes = 0;
        this.#options.onRotated();
      }
      appendFileSync(this.#path, batch, { mode: 0o600 });
      this.#bytes += batch.length;
    } catch (error) {
      this.#bytes = undefined;
      this.#options.onFailure(error);
    }
  }
}

/** Returns the path of the file that holds the lines before those of a part's current file. */
export function toPreviousFile(path: string): string {
  return `${path}.1`;
}
