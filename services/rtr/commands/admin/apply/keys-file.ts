import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { localFileError } from '../../client/client-context.ts';

/** A file of this machine with the secrets of new keys: one JSON object on a line, readable by its owner alone. */
export class KeysFile {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @throws RouterError for one that exists already, or cannot be made */
  static async create(path: string): Promise<KeysFile> {
    try {
      return new KeysFile(await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
    } catch (error) {
      throw localFileError(path, error);
    }
  }

  /** Returns whether it was written. */
  async add(key: { owner: string; name: string; key: string }): Promise<boolean> {
    try {
      await this.#file.write(`${JSON.stringify(key)}\n`);
      return true;
    } catch {
      return false;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
