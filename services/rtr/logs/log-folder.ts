import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LogFile } from './log-file.ts';

/** Maximum bytes of all files together. Files that were not written for the longest time are deleted first. */
const maxFolderBytes = 256 * 1024 * 1024;

/** The log files of a cluster's parts, `<part>.log` and, with the lines before these, `<part>.log.1`. */
export class LogFolder {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #files = new Map<string, LogFile>();
  readonly #onFailure: (error: unknown) => void;

  /** @param onFailure called when lines could not be written; they are dropped */
  constructor(folder: string, onFailure: (error: unknown) => void, maxBytes = maxFolderBytes) {
    this.#folder = folder;
    this.#onFailure = onFailure;
    this.#maxBytes = maxBytes;
  }

  write(part: string, line: string): void {
    this.#open(part).write(line);
  }

  flush(): void {
    for (const file of this.#files.values()) file.flush();
  }

  #open(part: string): LogFile {
    const opened = this.#files.get(part);
    if (opened) return opened;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      if (this.#files.size === 0) this.#trim();
    } catch {
      // The first write fails, too, and reports it.
    }
    const file = new LogFile(join(this.#folder, toFileName(part)), {
      onRotated: () => this.#trim(),
      onFailure: this.#onFailure,
    });
    this.#files.set(part, file);
    return file;
  }

  #trim(): void {
    const current = new Set([...this.#files.keys()].map(toFileName));
    const files = readdirSync(this.#folder)
      .filter((name) => /\.log(\.1)?$/.test(name))
      .map((name) => ({ name, stat: statSync(join(this.#folder, name), { throwIfNoEntry: false }) }))
      .toSorted((a, b) => (b.stat?.mtimeMs ?? 0) - (a.stat?.mtimeMs ?? 0));
    let bytes = 0;
    for (const { name, stat } of files) {
      bytes += stat?.size ?? 0;
      if (bytes > this.#maxBytes && !current.has(name)) rmSync(join(this.#folder, name), { force: true });
    }
  }
}

/** Returns the name of a part's file, such as `gpu-worker-127.0.0.1-11434.log` for `gpu-worker http://127.0.0.1:11434`. */
export function toFileName(part: string): string {
  return `${part.replace(/https?:\/\//, '').replaceAll(/[^\w.-]+/g, '-')}.log`;
}
