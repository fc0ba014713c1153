import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { ByteMeter, type ByteDigest } from '#shared/core/byte-meter.ts';
import { RouterError } from '#shared/core/errors.ts';
import { splitIntoChunks } from '#shared/core/split-into-chunks.ts';
import type { ByteRange, ObjectStore } from './object-store.ts';

const chunkBytes = 64 * 1024;
/** Bytes that sealing adds to each chunk. */
const tagBytes = 16;
const sealedChunkBytes = chunkBytes + tagBytes;

/** A sealed object begins with a salt, and with bytes that identify the secret from which its key is derived. */
const saltBytes = 16;
const checkBytes = 16;
const headerBytes = saltBytes + checkBytes;

/** End of the names of sealed objects. Objects that were stored before a secret was set have names without it. */
const sealedSuffix = '-sealed';

/**
 * Encrypts and authenticates objects on their way to another store: AES-256-GCM in chunks of 64 KiB, with a separate key for each object. A
 * chunk's nonce consists of its number and a mark of the last chunk, so that no chunk can be moved, left out or cut off unnoticed. Any
 * range of an object can be read. Objects that are in plain text in the other store stay readable.
 */
export class SealedObjectStore implements ObjectStore {
  readonly #store: ObjectStore;
  readonly #secrets: readonly Uint8Array[];

  /** @param secrets secrets of 32 bytes each; the first one seals, all of them open */
  constructor(store: ObjectStore, secrets: readonly [Uint8Array, ...Uint8Array[]]) {
    this.#store = store;
    this.#secrets = secrets;
  }

  async put(name: string, body: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<ByteDigest> {
    const salt = randomBytes(saltBytes);
    const [secret = new Uint8Array()] = this.#secrets;
    const keys = deriveKeys(secret, salt, name);
    const meter = new ByteMeter();
    await this.#store.put(`${name}${sealedSuffix}`, sealChunks(meter.pass(body), keys, salt), signal);
    return meter.result();
  }

  async get(
    name: string,
    { from, to }: ByteRange = { from: 0 },
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array> | undefined> {
    const sealedName = `${name}${sealedSuffix}`;
    const header = await this.#store.get(sealedName, { from: 0, to: headerBytes }, signal);
    if (!header) return this.#store.get(name, { from, to }, signal);
    const key = this.#findKey(name, await buffer(header));
    const first = Math.floor(from / chunkBytes);
    // Reads one byte beyond the last wanted chunk. If this byte exists, the chunk is not the last chunk of the object.
    const end = to === undefined ? undefined : headerBytes + Math.ceil(to / chunkBytes) * sealedChunkBytes + 1;
    const range = { from: headerBytes + first * sealedChunkBytes, to: end };
    const sealed = await this.#store.get(sealedName, range, signal);
    if (!sealed) return undefined;
    const limit = end === undefined ? undefined : end - range.from;
    return sliceStream(openChunks(sealed, key, first, limit), from - first * chunkBytes, (to ?? Infinity) - from);
  }

  async delete(name: string): Promise<void> {
    await this.#store.delete(`${name}${sealedSuffix}`);
    await this.#store.delete(name);
  }

  #findKey(name: string, header: Buffer): Buffer {
    const salt = header.subarray(0, saltBytes);
    const check = header.subarray(saltBytes);
    for (const secret of this.#secrets) {
      const keys = deriveKeys(secret, salt, name);
      if (check.length === checkBytes && timingSafeEqual(keys.check, check)) return keys.key;
    }
    throw createUnreadableError('it is sealed with a secret that is not set');
  }
}

/** Derives the key of an object, and the bytes of its header that identify the secret (RFC 5869). */
function deriveKeys(secret: Uint8Array, salt: Uint8Array, name: string): { key: Buffer; check: Buffer } {
  const derived = Buffer.from(hkdfSync('sha256', secret, salt, `file ${name}`, 32 + checkBytes));
  return { key: derived.subarray(0, 32), check: derived.subarray(32) };
}

async function* sealChunks(
  body: AsyncIterable<Uint8Array>,
  { key, check }: { key: Buffer; check: Buffer },
  salt: Uint8Array,
): AsyncGenerator<Uint8Array> {
  yield Buffer.concat([salt, check]);
  let previous: Uint8Array | undefined;
  let index = 0;
  for await (const chunk of splitIntoChunks(body, chunkBytes)) {
    if (previous) yield sealChunk(key, index++, false, previous);
    previous = chunk;
  }
  yield sealChunk(key, index, true, previous ?? new Uint8Array());
}

function sealChunk(key: Buffer, index: number, isLast: boolean, chunk: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, toNonce(index, isLast));
  return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
}

/**
 * Opens chunks from number `first` on.
 * @param limit maximum bytes of `sealed`; undefined if `sealed` ends with the object. If `sealed` has exactly this many bytes, its last
 * byte is not opened: it only shows that a further chunk follows
 */
async function* openChunks(
  sealed: AsyncIterable<Uint8Array>,
  key: Buffer,
  first: number,
  limit: number | undefined,
): AsyncGenerator<Uint8Array> {
  let previous: Uint8Array | undefined;
  let index = first;
  let bytes = 0;
  for await (const chunk of splitIntoChunks(sealed, sealedChunkBytes)) {
    bytes += chunk.length;
    if (previous) yield openChunk(key, index++, false, previous);
    previous = chunk;
  }
  if (limit !== undefined && bytes === limit) return;
  if (previous) yield openChunk(key, index, true, previous);
  // This is an error, because even an empty object has a chunk.
  else if (first === 0) throw createUnreadableError('it is cut off');
}

function openChunk(key: Buffer, index: number, isLast: boolean, sealed: Uint8Array): Buffer {
  if (sealed.length < tagBytes) throw createUnreadableError('it is cut off');
  const decipher = createDecipheriv('aes-256-gcm', key, toNonce(index, isLast), { authTagLength: tagBytes });
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - tagBytes)), decipher.final()]);
  } catch {
    throw createUnreadableError('it was changed, or is cut off');
  }
}

function toNonce(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 7);
  nonce.writeUInt8(isLast ? 1 : 0, 11);
  return nonce;
}

async function* sliceStream(
  bytes: AsyncIterable<Uint8Array>,
  from: number,
  wantedBytes: number,
): AsyncGenerator<Uint8Array> {
  let skip = from;
  let remaining = wantedBytes;
  for await (const piece of bytes) {
    const part = piece.subarray(skip, skip + Math.min(remaining, piece.length));
    skip = Math.max(0, skip - piece.length);
    if (part.length > 0) yield part;
    remaining -= part.length;
    if (remaining <= 0) return;
  }
}

function createUnreadableError(reason: string): RouterError {
  return new RouterError('store_unavailable', 'The file cannot be read.', { cause: new Error(reason) });
}
