import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { toLocalFileError } from '../../client/client-context.ts';

/** A file on this machine with the secrets of new keys: one JSON object per line, readable only by its owner. */
export class KeysFile {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /**
   * Creates the file.
   * @throws RouterError for a file that exists already, or cannot be created
   */
  static async create(path: string): Promise<KeysFile> {
    try {
      return new KeysFile(await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
    } catch (error) {
      throw toLocalFileError(path, error);
    }
  }

  /** Adds a key, and returns whether it could be written. */
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
