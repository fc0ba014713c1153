import type { ByteDigest } from '#shared/core/byte-meter.ts';

/** A range of the bytes of an object, from position `from` to position `to` (exclusive). Without `to`, the range ends with the object. */
export interface ByteRange {
  from: number;
  to?: number | undefined;
}

/**
 * A store for the content of files. Names have up to 128 characters: letters, digits, `-` and `_`. At most a few mebibytes of an object are
 * in memory, however large the object is. Every method throws RouterError `store_unavailable` while the store is unavailable.
 */
export interface ObjectStore {
  /**
   * Stores a body under a new name. The object is not visible before it is complete.
   * @throws RouterError `storage_full`; the error of the body; the signal's reason. The store then tries to remove what was stored;
   * `delete` removes the rest
   */
  put(name: string, body: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<ByteDigest>;
  /** Returns the bytes of an object; undefined if there is no such object. Reading them throws as the methods do. */
  get(name: string, range?: ByteRange, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Removes an object, even if it is incomplete. Does nothing if there is none. */
  delete(name: string): Promise<void>;
}
