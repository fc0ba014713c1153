import { openOwner } from '../../contract/worker-address.ts';

/** Workers of one credential at most. */
const maxWorkers = 1_000;

/** Bytes of all their announcements at most, because each ingress keeps them in memory. */
const maxBytes = 64 * 1024 * 1024;

/**
 * What each owner's workers take of an ingress, so that a stolen credential cannot crowd out everybody else. Workers without
 * credentials all have one owner, whom only the limit of the whole table bounds.
 */
export class OwnerShares {
  readonly #shares = new Map<string, { workers: number; bytes: number }>();

  /** Whether an owner may have one more worker, or an announcement that is larger by so many bytes. */
  hasRoom(owner: string, isNew: boolean, moreBytes: number): boolean {
    if (owner === openOwner) return true;
    const { workers, bytes } = this.#shares.get(owner) ?? { workers: 0, bytes: 0 };
    return workers + (isNew ? 1 : 0) <= maxWorkers && bytes + moreBytes <= maxBytes;
  }

  /** Counts what changed; negative numbers when a worker is gone. */
  add(owner: string, workers: number, bytes: number): void {
    const before = this.#shares.get(owner) ?? { workers: 0, bytes: 0 };
    const share = { workers: before.workers + workers, bytes: before.bytes + bytes };
    if (share.workers > 0) this.#shares.set(owner, share);
    else this.#shares.delete(owner);
  }
}
