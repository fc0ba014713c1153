import { RouterError } from '#shared/core/errors.ts';
import type { Json } from '#shared/core/json.ts';
import type { EncodingFormat } from '#shared/formats/embeddings/request.ts';

const bytesOfNumber = 4;

/**
 * Converts a vector to the requested encoding. Upstreams may use either encoding, because engines differ in which they support.
 * @returns the vector, and its number of dimensions
 * @throws RouterError `upstream_failed` if the value is not a vector
 */
export function encodeVector(vector: Json | undefined, encoding: EncodingFormat): { vector: Json; dimensions: number } {
  if (typeof vector === 'string') {
    const bytes = Buffer.from(vector, 'base64');
    if (bytes.length % bytesOfNumber !== 0) throw noVector();
    const dimensions = bytes.length / bytesOfNumber;
    return { vector: encoding === 'base64' ? vector : numbersOf(bytes), dimensions };
  }
  if (!Array.isArray(vector) || typeof vector[0] !== 'number') throw noVector();
  return { vector: encoding === 'base64' ? base64Of(vector) : vector, dimensions: vector.length };
}

function numbersOf(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / bytesOfNumber }, (_, at) => bytes.readFloatLE(at * bytesOfNumber));
}

function base64Of(vector: readonly Json[]): string {
  const bytes = Buffer.alloc(vector.length * bytesOfNumber);
  for (const [at, number] of vector.entries()) {
    if (typeof number !== 'number') throw noVector();
    bytes.writeFloatLE(number, at * bytesOfNumber);
  }
  return bytes.toString('base64');
}

function noVector(): RouterError {
  return new RouterError('upstream_failed', 'The upstream sent a vector that cannot be read.');
}
