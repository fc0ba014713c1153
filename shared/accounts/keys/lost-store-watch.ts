import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { KeySource } from './key-verifier.ts';
import type { StoreIdentity, StoreMarker } from '#shared/store/redis/store-marker.ts';

const checkEveryMs = 1_000;

/**
 * Detects that the store of accounts was emptied or replaced while this process runs. Keys that are then missing are not refused as wrong.
 * States: new (no id was read yet) → intact (the store has the remembered id) ⇄ lost (the store has no id, or another id). When an operator
 * confirms the store, its id at that moment becomes the remembered id.
 */
export class LostStoreDetector {
  readonly #marker: Pick<StoreMarker, 'read'>;
  readonly #log: Pick<Logger, 'error' | 'info'>;
  readonly #timer: NodeJS.Timeout;
  #rememberedId: string | undefined;
  #lost = false;

  constructor(marker: Pick<StoreMarker, 'read'>, log: Pick<Logger, 'error' | 'info'>) {
    this.#marker = marker;
    this.#log = log;
    this.#timer = setInterval(() => this.#checkInBackground(), checkEveryMs);
    this.#checkInBackground();
  }

  /** Whether the store was emptied or replaced, and nobody has confirmed that. A change is recognised within a second. */
  get isLost(): boolean {
    return this.#lost;
  }

  /** @throws RouterError `store_unavailable` while the store is lost */
  assertIntact(): void {
    if (!this.#lost) return;
    throw new RouterError(
      'store_unavailable',
      'The account store was emptied or replaced. An operator must restore or confirm it.',
      { retryAfter: 10 },
    );
  }

  /** Wraps a source of keys. While the store is lost, `find` of the wrapped source rejects with `store_unavailable`. */
  guard(keys: KeySource): KeySource {
    return {
      find: async (id) => {
        const key = await keys.find(id);
        // A missing key may mean that the store was emptied a moment ago. If no id is remembered yet, this check remembers the id of the
        // store that the key was read from.
        if (key === undefined || this.#lost || this.#rememberedId === undefined) await this.#check();
        this.assertIntact();
        return key;
      },
      replaceHash: (...hashes) => keys.replaceHash(...hashes),
    };
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #checkInBackground(): void {
    // While Redis is unavailable, the last known state stays.
    this.#check().catch(() => undefined);
  }

  async #check(): Promise<void> {
    this.#updateState(await this.#marker.read());
  }

  #updateState({ id, isAccepted }: StoreIdentity): void {
    if (isAccepted || this.#rememberedId === undefined) this.#rememberedId = id;
    const isLost = id !== this.#rememberedId;
    if (isLost === this.#lost) return;
    this.#lost = isLost;
    if (isLost)
      this.#log.error(
        { emptied: id === undefined },
        'the account store was emptied or replaced: restore it, or confirm it with `rtr store accept`',
      );
    else this.#log.info('the account store is intact or confirmed');
  }
}
