import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

export interface Sealer {
  /** Encrypts and authenticates a text, as base64url. The same text gives the same sealed text. */
  seal: (text: string) => string;
  /** Seals the bytes of a text in slices. The event loop continues between two slices. */
  sealBytes: (pieces: readonly Uint8Array[]) => Promise<string>;
  /** Opens a sealed text; undefined if the text was sealed with another key, or changed afterwards. */
  unseal: (sealed: string) => string | undefined;
  /** Opens sealed bytes that need not be text; undefined as for `unseal`. */
  unsealBytes: (sealed: string) => Buffer | undefined;
}

const nonceBytes = 12;
const tagBytes = 16;

/** Bytes that are sealed without a pause; this takes about 0.2 ms. */
const sliceBytes = 256 * 1024;

/**
 * Creates a sealer with AES-256-GCM and a nonce that is derived from the text (as in RFC 8452). Sealing needs no randomness, and equal
 * texts of a conversation stay equal for prompt caches.
 * @param key 32 bytes
 */
export function createSealer(key: Uint8Array): Sealer {
  const [encryption, derivation] = [deriveKey(key, 'encryption'), deriveKey(key, 'nonce')];
  const unsealBytes = (sealed: string): Buffer | undefined => {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < nonceBytes + tagBytes) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', encryption, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    try {
      const content = decipher.update(bytes.subarray(nonceBytes + tagBytes));
      return Buffer.concat([content, decipher.final()]);
    } catch {
      // A client may send any text, including one that is sealed with another key or not sealed at all.
      return undefined;
    }
  };
  return {
    seal: (text) => {
      const nonce = createHmac('sha256', derivation).update(text).digest().subarray(0, nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', encryption, nonce);
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    sealBytes: async (pieces) => {
      const mac = createHmac('sha256', derivation);
      for await (const slice of cutIntoSlices(pieces)) mac.update(slice);
      const nonce = mac.digest().subarray(0, nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', encryption, nonce);
      const sealed: Buffer[] = [];
      for await (const slice of cutIntoSlices(pieces)) sealed.push(cipher.update(slice));
      sealed.push(cipher.final());
      return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString('base64url');
    },
    unseal: (sealed) => unsealBytes(sealed)?.toString(),
    unsealBytes,
  };
}

/** Yields the bytes in slices and lets the event loop continue after every 256 KiB. */
async function* cutIntoSlices(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += sliceBytes) {
      const slice = piece.subarray(start, start + sliceBytes);
      yield slice;
      bytes += slice.length;
      if (bytes < sliceBytes) continue;
      bytes = 0;
      await setImmediate();
    }
  }
}

/** Derives a key of 32 bytes for one purpose from another key (RFC 5869). */
export function deriveKey(key: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, 32));
}

/** Creates a sealer that seals with the first key, and opens texts that were sealed with any of the keys; undefined if there is no key. */
export function createMultiKeySealer(keys: readonly Uint8Array[]): Sealer | undefined {
  const [newest, ...older] = keys.map(createSealer);
  if (!newest) return undefined;
  const unsealBytes = (sealed: string): Buffer | undefined => {
    for (const sealer of [newest, ...older]) {
      const bytes = sealer.unsealBytes(sealed);
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  };
  return {
    seal: newest.seal,
    sealBytes: newest.sealBytes,
    unseal: (sealed) => unsealBytes(sealed)?.toString(),
    unsealBytes,
  };
}
