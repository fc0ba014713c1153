import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const digests = new WeakMap<IncomingMessage, BodyDigest>();

/** What a boundary stands behind. */
const lineBreak = '\r\n';

/** What is digested in place of a boundary. */
const kept = `${lineBreak}--`;

/** Boundaries that are left out of the digest: more than a form may have, and no work for one with more of them. */
const maxBoundaries = 64;

/**
 * Hashes a body while it arrives. For a form, the digest leaves out the boundary between parts, which clients choose anew for each request
 * (RFC 2046, 5.1.1).
 */
export class BodyDigest {
  readonly #hash = createHash('sha256');
  readonly #boundary: Buffer | undefined;
  /** What may be the beginning of a boundary. */
  #rest: Buffer = Buffer.alloc(0);
  /** Bytes at the beginning of what is to be digested that are not of the body. */
  #extra = 0;
  #found = 0;

  /** @param type `content-type` of the body */
  constructor(type: string | undefined) {
    const boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type ?? '');
    const text = boundary?.[1] ?? boundary?.[2];
    if (text === undefined) return;
    this.#boundary = Buffer.from(`${kept}${text}`, 'latin1');
    // The first boundary may be the beginning of the body.
    this.#rest = Buffer.from(lineBreak);
    this.#extra = lineBreak.length;
  }

  update(piece: Uint8Array): void {
    const boundary = this.#boundary;
    if (!boundary) return void this.#hash.update(piece);
    const bytes = Buffer.concat([this.#rest, piece]);
    let at = 0;
    while (this.#found < maxBoundaries) {
      const found = bytes.indexOf(boundary, at);
      if (found < 0) break;
      this.#found += 1;
      this.#add(bytes.subarray(at, found + kept.length));
      at = found + boundary.length;
    }
    // The last bytes may be the beginning of a boundary.
    const end = Math.max(at, bytes.length - boundary.length + 1);
    this.#add(bytes.subarray(at, end));
    this.#rest = Buffer.from(bytes.subarray(end));
  }

  /** Returns the digest in base64. Call it once, after the last `update`. */
  digest(): string {
    this.#add(this.#rest);
    return this.#hash.digest('base64');
  }

  #add(bytes: Buffer): void {
    const extra = Math.min(this.#extra, bytes.length);
    this.#extra -= extra;
    this.#hash.update(bytes.subarray(extra));
  }
}

/** Creates the digest that the body's reader updates as the body arrives. */
export function createBodyDigest(request: IncomingMessage): BodyDigest {
  const digest = new BodyDigest(request.headers['content-type']);
  digests.set(request, digest);
  return digest;
}

/** Returns the digest to update while the body arrives; undefined if the request needs none. */
export function bodyDigestOf(request: IncomingMessage): BodyDigest | undefined {
  return digests.get(request);
}

/** Returns the SHA-256 of a whole body in base64. */
export function computeDigest(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64');
}
