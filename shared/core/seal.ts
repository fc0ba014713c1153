import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

/** Seals texts with one key, and opens them again. */
export interface Sealer {
  /** Encrypts and authenticates a text. The same text becomes the same sealed text, as base64url. */
  seal: (text: string) => string;
  /** Does the same for the bytes of a text, in slices between which the event loop goes on. */
  sealBytes: (pieces: readonly Uint8Array[]) => Promise<string>;
  /** The text; undefined if it was not sealed with this key, or was changed. */
  unseal: (sealed: string) => string | undefined;
  /** The bytes, for what is no text; undefined as `unseal` says. */
  unsealBytes: (sealed: string) => Buffer | undefined;
}

const nonceBytes = 12;
const tagBytes = 16;

/** Bytes that are worked on at once, for about 0.2 ms. */
const sliceBytes = 256 * 1024;

/**
 * AES-256-GCM with a nonce that is derived from the text (as in RFC 8452), so that sealing needs no randomness, and equal texts of
 * a conversation stay equal for prompt caches.
 * @param key 32 bytes
 */
export function sealer(key: Uint8Array): Sealer {
  const [encryption, derivation] = [derive(key, 'encryption'), derive(key, 'nonce')];
  const unsealBytes = (sealed: string): Buffer | undefined => {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < nonceBytes + tagBytes) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', encryption, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    try {
      const opened = decipher.update(bytes.subarray(nonceBytes + tagBytes));
      return Buffer.concat([opened, decipher.final()]);
    } catch {
      // Any text may come from a client: one that another key has sealed, or none.
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
      for await (const slice of slicesOf(pieces)) mac.update(slice);
      const nonce = mac.digest().subarray(0, nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', encryption, nonce);
      const sealed: Buffer[] = [];
      for await (const slice of slicesOf(pieces)) sealed.push(cipher.update(slice));
      sealed.push(cipher.final());
      return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString('base64url');
    },
    unseal: (sealed) => unsealBytes(sealed)?.toString(),
    unsealBytes,
  };
}

/** The bytes in slices. Waits for the event loop after each but small ones. */
async function* slicesOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += sliceBytes) {
      const slice = piece.subarray(at, at + sliceBytes);
      yield slice;
      bytes += slice.length;
      if (bytes < sliceBytes) continue;
      bytes = 0;
      await setImmediate();
    }
  }
}

/** A key of 32 bytes for one purpose, derived from another one (RFC 5869). */
export function derive(key: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, 32));
}

/** Seals with the first of several keys, and opens what any of them has sealed; undefined without a key. */
export function sealerOf(keys: readonly Uint8Array[]): Sealer | undefined {
  const [newest, ...older] = keys.map(sealer);
  if (!newest) return undefined;
  const unsealBytes = (sealed: string): Buffer | undefined => {
    for (const each of [newest, ...older]) {
      const bytes = each.unsealBytes(sealed);
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
