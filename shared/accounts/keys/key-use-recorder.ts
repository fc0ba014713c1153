import { LRUCache } from 'lru-cache';
import type { Logger } from '#shared/core/log.ts';
import type { KeyStore } from './key-store.ts';

const minuteMs = 60_000;
const writeAfterMs = 5_000;
const maxKeys = 10_000;

/**
 * Records when keys are used, to the minute. Requests do not wait for this. Uses are collected for five seconds and written together, at
 * most once a minute for each key. While Redis is unavailable, uses are lost.
 */
export class KeyUseRecorder {
  readonly #store: Pick<KeyStore, 'noteUses'>;
  readonly #log: Logger;
  readonly #lastMinutes = new LRUCache<string, number>({ max: maxKeys });
  #unwrittenUses = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Pick<KeyStore, 'noteUses'>, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  note(keyId: string): void {
    const now = Date.now();
    const minute = now - (now % minuteMs);
    if (this.#lastMinutes.get(keyId) === minute) return;
    if (this.#unwrittenUses.size >= maxKeys) return;
    this.#lastMinutes.set(keyId, minute);
    this.#unwrittenUses.set(keyId, minute);
    this.#timer ??= setTimeout(() => void this.#write(), writeAfterMs);
  }

  async close(): Promise<void> {
    await this.#write();
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const uses = this.#unwrittenUses;
    if (uses.size === 0) return;
    this.#unwrittenUses = new Map();
    try {
      await this.#store.noteUses(uses);
    } catch (error) {
      this.#log.warn({ err: error, keys: uses.size }, 'uses of keys could not be noted');
    }
  }
}
