/**
 * Yields the same bytes in chunks of one size; only the last chunk may be shorter. A yielded chunk is never written to again.
 * @param chunkBytes bytes of a chunk
 */
export async function* splitIntoChunks(
  body: AsyncIterable<Uint8Array>,
  chunkBytes: number,
): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let filledBytes = 0;
  for await (const piece of body) {
    for (let offset = 0; offset < piece.length;) {
      const copiedBytes = Math.min(chunkBytes - filledBytes, piece.length - offset);
      chunk.set(piece.subarray(offset, offset + copiedBytes), filledBytes);
      filledBytes += copiedBytes;
      offset += copiedBytes;
      if (filledBytes < chunkBytes) continue;
      yield chunk;
      chunk = Buffer.allocUnsafe(chunkBytes);
      filledBytes = 0;
    }
  }
  if (filledBytes > 0) yield chunk.subarray(0, filledBytes);
}
