import { openOwner } from '../../contract/worker-address.ts';

const maxWorkers = 1_000;

/** Maximum bytes of all their announcements, because each dispatcher keeps them in memory. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Counts the workers and announcement bytes of each owner, so that a stolen credential cannot crowd out all others. Workers without
 * credentials share one owner, which only the limit of the whole table bounds.
 */
export class OwnerShares {
  readonly #shares = new Map<string, { workers: number; bytes: number }>();

  /** Whether an owner may have one more worker, or a larger announcement. */
  hasRoom(owner: string, isNew: boolean, moreBytes: number): boolean {
    if (owner === openOwner) return true;
    const { workers, bytes } = this.#shares.get(owner) ?? { workers: 0, bytes: 0 };
    return workers + (isNew ? 1 : 0) <= maxWorkers && bytes + moreBytes <= maxBytes;
  }

  /** Counts a change; numbers are negative if a worker is gone. */
  add(owner: string, workers: number, bytes: number): void {
    const before = this.#shares.get(owner) ?? { workers: 0, bytes: 0 };
    const share = { workers: before.workers + workers, bytes: before.bytes + bytes };
    if (share.workers > 0) this.#shares.set(owner, share);
    else this.#shares.delete(owner);
  }
}
