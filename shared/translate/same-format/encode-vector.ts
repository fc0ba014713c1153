import { RouterError } from '#shared/core/errors.ts';
import type { Json } from '#shared/core/json.ts';
import type { EncodingFormat } from '#shared/formats/embeddings/parse-embeddings-request.ts';

const bytesPerNumber = 4;

/**
 * Converts a vector to the requested encoding. The upstream may send another encoding, because not every engine supports both.
 * @returns the vector, and its number of dimensions
 * @throws RouterError `upstream_failed` if the value is not a vector
 */
export function encodeVector(vector: Json | undefined, encoding: EncodingFormat): { vector: Json; dimensions: number } {
  if (typeof vector === 'string') {
    const bytes = Buffer.from(vector, 'base64');
    if (bytes.length % bytesPerNumber !== 0) throw createVectorError();
    const dimensions = bytes.length / bytesPerNumber;
    return { vector: encoding === 'base64' ? vector : decodeNumbers(bytes), dimensions };
  }
  if (!Array.isArray(vector) || typeof vector[0] !== 'number') throw createVectorError();
  return { vector: encoding === 'base64' ? encodeBase64(vector) : vector, dimensions: vector.length };
}

function decodeNumbers(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / bytesPerNumber }, (_, index) => bytes.readFloatLE(index * bytesPerNumber));
}

function encodeBase64(vector: readonly Json[]): string {
  const bytes = Buffer.alloc(vector.length * bytesPerNumber);
  for (const [index, number] of vector.entries()) {
    if (typeof number !== 'number') throw createVectorError();
    bytes.writeFloatLE(number, index * bytesPerNumber);
  }
  return bytes.toString('base64');
}

function createVectorError(): RouterError {
  return new RouterError('upstream_failed', 'The upstream sent a vector that cannot be read.');
}
