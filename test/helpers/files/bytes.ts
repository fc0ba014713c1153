import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';

/** Yields some bytes in pieces, as from a socket. */
export async function* inPieces(bytes: Uint8Array, pieceBytes = 50_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** Returns all bytes of a body; undefined without a body. */
export async function allOf(body: AsyncIterable<Uint8Array> | undefined): Promise<Buffer | undefined> {
  return body && buffer(body);
}

/** A body that sends this number of random bytes and then fails. */
export async function* failingAfter(bytes: number, error: Error): AsyncGenerator<Uint8Array> {
  yield* inPieces(randomBytes(bytes));
  throw error;
}
