/**
 * Yields the same bytes in chunks of one size; only the last one may be shorter. A chunk is not written to again.
 * @param chunkBytes bytes of a chunk
 */
export async function* splitIntoChunks(
  body: AsyncIterable<Uint8Array>,
  chunkBytes: number,
): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let filledBytes = 0;
  for await (const piece of body) {
    for (let at = 0; at < piece.length;) {
      const copiedBytes = Math.min(chunkBytes - filledBytes, piece.length - at);
      chunk.set(piece.subarray(at, at + copiedBytes), filledBytes);
      filledBytes += copiedBytes;
      at += copiedBytes;
      if (filledBytes < chunkBytes) continue;
      yield chunk;
      chunk = Buffer.allocUnsafe(chunkBytes);
      filledBytes = 0;
    }
  }
  if (filledBytes > 0) yield chunk.subarray(0, filledBytes);
}
