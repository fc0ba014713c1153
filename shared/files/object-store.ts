import type { Measured } from '#shared/core/byte-meter.ts';

/** Bytes of an object from one position up to another, which is not included. */
export interface ByteRange {
  from: number;
  to?: number | undefined;
}

/**
 * Where the content of files is. Names have up to 128 letters, digits, `-` and `_`. Whatever the size of an object, a few mebibytes of it
 * are in memory at most. Every method throws RouterError `store_unavailable` while the store is away.
 */
export interface ObjectStore {
  /**
   * Stores a body under a new name. Nothing is visible before it is whole.
   * @throws RouterError `storage_full`, or what the body throws, or the signal's reason. It tries to leave nothing then; `delete`
   * removes what is left
   */
  put(name: string, body: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<Measured>;
  /** The bytes of an object, or undefined if there is no such object. Reading them throws as the methods do. */
  get(name: string, range?: ByteRange, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Removes an object, also one that is not there or not whole. */
  delete(name: string): Promise<void>;
}
