import { RouterError } from '#shared/core/errors.ts';
import type { Json } from '#shared/core/json.ts';
import type { EncodingFormat } from '#shared/formats/embeddings/request.ts';

const bytesPerNumber = 4;

/**
 * Converts a vector to the requested encoding. Upstreams may use either encoding, because engines differ in which they support.
 * @returns the vector, and its number of dimensions
 * @throws RouterError `upstream_failed` if the value is not a vector
 */
export function encodeVector(vector: Json | undefined, encoding: EncodingFormat): { vector: Json; dimensions: number } {
  if (typeof vector === 'string') {
    const bytes = Buffer.from(vector, 'base64');
    if (bytes.length % bytesPerNumber !== 0) throw noVectorError();
    const dimensions = bytes.length / bytesPerNumber;
    return { vector: encoding === 'base64' ? vector : decodeNumbers(bytes), dimensions };
  }
  if (!Array.isArray(vector) || typeof vector[0] !== 'number') throw noVectorError();
  return { vector: encoding === 'base64' ? encodeBase64(vector) : vector, dimensions: vector.length };
}

function decodeNumbers(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / bytesPerNumber }, (_, at) => bytes.readFloatLE(at * bytesPerNumber));
}

function encodeBase64(vector: readonly Json[]): string {
  const bytes = Buffer.alloc(vector.length * bytesPerNumber);
  for (const [at, number] of vector.entries()) {
    if (typeof number !== 'number') throw noVectorError();
    bytes.writeFloatLE(number, at * bytesPerNumber);
  }
  return bytes.toString('base64');
}

function noVectorError(): RouterError {
  return new RouterError('upstream_failed', 'The upstream sent a vector that cannot be read.');
}
