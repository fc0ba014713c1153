import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The digests of bodies that are read as they arrive. */
const digests = new WeakMap<IncomingMessage, BodyDigest>();

/**
 * The digest of a body that is read as it arrives. Of a form it leaves out the boundary between its parts, which clients choose anew each
 * time they send it (RFC 2046, 5.1.1).
 */
export class BodyDigest {
  readonly #hash = createHash('sha256');
  readonly #boundary: Buffer | undefined;
  #rest: Buffer = Buffer.alloc(0);

  /** @param type the `content-type` of the body */
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
    // A boundary may have begun with the last bytes.
    const end = Math.max(at, bytes.length - boundary.length + 1);
    this.#hash.update(bytes.subarray(at, end));
    this.#rest = Buffer.from(bytes.subarray(end));
  }

  /** Base64, once there is nothing to be added. */
  digest(): string {
    return this.#hash.update(this.#rest).digest('base64');
  }
}

/** Has the body of a request digested as it is read. */
export function digestArriving(request: IncomingMessage): BodyDigest {
  const digest = new BodyDigest(request.headers['content-type']);
  digests.set(request, digest);
  return digest;
}

/** What digests the body of a request; undefined if nobody wants to know. */
export function arrivingDigest(request: IncomingMessage): BodyDigest | undefined {
  return digests.get(request);
}

/** The digest of a body that has been read whole. */
export function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64');
}
