import type { ByteDigest } from '#shared/core/byte-meter.ts';

/** Bytes of an object from position `from` up to `to`, which is not included; without `to`, up to the end. */
export interface ByteRange {
  from: number;
  to?: number | undefined;
}

/**
 * The store of the content of files. Names have up to 128 letters, digits, `-` and `_`. Whatever the size of an object, at most a few
 * mebibytes of it are in memory. Every method throws RouterError `store_unavailable` while the store is unavailable.
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
