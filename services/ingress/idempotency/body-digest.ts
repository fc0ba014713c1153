import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const digests = new WeakMap<IncomingMessage, BodyDigest>();

/**
 * Hashes a body while it arrives. For a form, the digest leaves out the boundary between parts, which clients choose anew for each request
 * (RFC 2046, 5.1.1).
 */
export class BodyDigest {
  readonly #hash = createHash('sha256');
  readonly #boundary: Buffer | undefined;
  #rest: Buffer = Buffer.alloc(0);

  /** @param type `content-type` of the body */
  constructor(type: string | undefined) {
    const boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type ?? '');
    const text = boundary?.[1] ?? boundary?.[2];
    this.#boundary = text === undefined ? undefined : Buffer.from(`--${text}`, 'latin1');
  }

  update(piece: Uint8Array): void {
    const boundary = this.#boundary;
    if (!boundary) return void this.#hash.update(piece);
    const bytes = Buffer.concat([this.#rest, piece]);
    let at = 0;
    for (let found = bytes.indexOf(boundary); found >= 0; found = bytes.indexOf(boundary, at)) {
      this.#hash.update(bytes.subarray(at, found)).update('--');
      at = found + boundary.length;
    }
    // The last bytes may be the beginning of a boundary.
    const end = Math.max(at, bytes.length - boundary.length + 1);
    this.#hash.update(bytes.subarray(at, end));
    this.#rest = Buffer.from(bytes.subarray(end));
  }

  /** Returns the digest in base64. Call it once, after the last `update`. */
  digest(): string {
    return this.#hash.update(this.#rest).digest('base64');
  }
}

/** Creates the digest that the body's reader updates as the body arrives. */
export function digestArriving(request: IncomingMessage): BodyDigest {
  const digest = new BodyDigest(request.headers['content-type']);
  digests.set(request, digest);
  return digest;
}

/** Returns the digest to update while the body arrives; undefined if the request needs none. */
export function arrivingDigest(request: IncomingMessage): BodyDigest | undefined {
  return digests.get(request);
}

/** Returns the SHA-256 of a whole body in base64. */
export function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64');
}
