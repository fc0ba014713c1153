import type { IncomingMessage } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { decoderFor } from './decoder-for.ts';

export interface BodyLimits {
  /** Bytes of one body, after decompression. */
  maxBytes: number;
  /** Milliseconds for a body to arrive. */
  timeoutMs: number;
}

/**
 * Reads a request's whole body, decompressed.
 * @param onBytes called with the size of each piece; what it throws ends the reading
 * @throws RouterError `body_too_large`, `request_timeout`, `unsupported_encoding`, `invalid_json` (a body that is cut off
 * or cannot be decompressed), as soon as it is clear. The rest of the request is not read then; see `refuse`
 */
export type ReadBody = (request: IncomingMessage, onBytes: (bytes: number) => void) => Promise<Buffer>;

/** Makes the reader of bodies. */
export function createBodyReader({ maxBytes, timeoutMs }: BodyLimits): ReadBody {
  return async (request, onBytes) => {
    const decoder = decoderFor(request.headers['content-encoding']);
    if (!decoder && Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
    const { promise: arrived, resolve, reject } = Promise.withResolvers<void>();
    let parts: Buffer[] = [];
    let bytes = 0;
    const onData = (part: Buffer): void => {
      bytes += part.length;
      parts.push(part);
      try {
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        onBytes(part.length);
      } catch (error) {
        reject(error);
      }
    };
    const onEnd = (): void => resolve();
    const onClose = (): void => {
      if (!request.complete) reject(new RouterError('invalid_json', 'The request body was cut off.'));
    };
    const onError = (cause: Error): void =>
      reject(new RouterError('invalid_json', 'The request body could not be read.', { cause }));
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    // A body that came in one piece with its headers, as most do, is complete by then.
    process.nextTick(() => {
      if (!request.complete && !isOver) timer = setTimeout(() => reject(tooSlow(timeoutMs)), timeoutMs);
    });
    const source = decoder ? request.pipe(decoder) : request;
    source.on('data', onData).on('end', onEnd).on('error', onError);
    request.on('close', onClose);
    if (request.destroyed) onClose();
    try {
      await arrived;
      return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
    } catch (error) {
      source.off('data', onData);
      throw error;
    } finally {
      isOver = true;
      clearTimeout(timer);
      // The listeners stay with the request, which lives as long as its answer, so they must not hold the body. Taking them
      // off would cost more: it deletes a property, and V8 then keeps an emitter's listeners in a slower form.
      parts = [];
      if (decoder) {
        request.unpipe(decoder);
        decoder.destroy();
      }
    }
  };
}

function tooLarge(maxBytes: number): RouterError {
  return new RouterError('body_too_large', `The request body is larger than ${maxBytes} bytes.`);
}

function tooSlow(timeoutMs: number): RouterError {
  return new RouterError('request_timeout', `The request body did not arrive within ${timeoutMs / 1000} seconds.`);
}
