import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const digests = new WeakMap<IncomingMessage, BodyDigest>();

/** Text before each boundary line. */
const lineBreak = '\r\n';

/** The beginning of each boundary line. It is digested; the boundary after it is not. */
const boundaryStart = `${lineBreak}--`;

/**
 * Largest number of boundaries that are left out of the digest. A valid form has fewer. Further boundaries are digested without a search.
 */
const maxBoundaries = 64;

/**
 * Hashes a body while it arrives. The digest of a form leaves out the boundary between parts, because clients choose a new one for each
 * request (RFC 2046, 5.1.1).
 */
export class BodyDigest {
  readonly #hash = createHash('sha256');
  readonly #boundary: Buffer | undefined;
  /** Last bytes that have arrived, which may be the beginning of a boundary. */
  #rest: Buffer = Buffer.alloc(0);
  /** Number of bytes that were put before the body and have not yet been left out of the digest. */
  #extra = 0;
  #boundaryCount = 0;

  /** @param type `content-type` of the body */
  constructor(type: string | undefined) {
    const boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type ?? '');
    const text = boundary?.[1] ?? boundary?.[2];
    if (text === undefined) return;
    this.#boundary = Buffer.from(`${boundaryStart}${text}`, 'latin1');
    // The body may begin with the first boundary, so a line break is put before it.
    this.#rest = Buffer.from(lineBreak);
    this.#extra = lineBreak.length;
  }

  update(piece: Uint8Array): void {
    const boundary = this.#boundary;
    if (!boundary) return void this.#hash.update(piece);
    const bytes = Buffer.concat([this.#rest, piece]);
    let position = 0;
    while (this.#boundaryCount < maxBoundaries) {
      const found = bytes.indexOf(boundary, position);
      if (found < 0) break;
      this.#boundaryCount += 1;
      this.#add(bytes.subarray(position, found + boundaryStart.length));
      position = found + boundary.length;
    }
    // The last bytes may be the beginning of a boundary.
    const end = Math.max(position, bytes.length - boundary.length + 1);
    this.#add(bytes.subarray(position, end));
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

/** Creates the digest that the reader of the body updates as the body arrives. */
export function createBodyDigest(request: IncomingMessage): BodyDigest {
  const digest = new BodyDigest(request.headers['content-type']);
  digests.set(request, digest);
  return digest;
}

/** Returns the digest to update while the body arrives; undefined if the request needs none. */
export function findBodyDigest(request: IncomingMessage): BodyDigest | undefined {
  return digests.get(request);
}

/** Returns the SHA-256 of a whole body in base64. */
export function computeDigest(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64');
}
