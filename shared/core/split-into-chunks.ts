/**
 * Yields the same bytes in chunks of one size; only the last one may be shorter. A chunk is not written to again.
 * @param chunkBytes bytes of a chunk
 */
export async function* splitIntoChunks(
  body: AsyncIterable<Uint8Array>,
  chunkBytes: number,
): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let filled = 0;
  for await (const piece of body) {
    for (let at = 0; at < piece.length;) {
      const taken = Math.min(chunkBytes - filled, piece.length - at);
      chunk.set(piece.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
      if (filled < chunkBytes) continue;
      yield chunk;
      chunk = Buffer.allocUnsafe(chunkBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
