import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { RouterError } from '#shared/core/errors.ts';
import type { BodyReservation } from './body-reservation.ts';

/** A decoding stream; `bytesWritten` counts its input. */
type Decoder = Transform & { bytesWritten: number };

/** Log2 of the largest window of a zstd body. The decoder needs 16 MiB for this window. The encoding allows far larger windows. */
const zstdWindowLog = 24;

/**
 * Largest ratio of the decompressed to the compressed size of a body. The ratio is checked once more than `expandedBytes` are decompressed.
 * Texts and base64 usually compress to a tenth at best.
 */
const maxExpansion = 100;
const expandedBytes = 1024 * 1024;

/** Bytes of memory that a piece of a body needs besides its content. They are counted only for a piece with less content than this. */
const pieceOverheadBytes = 512;

/** Returns how many bytes of memory a piece needs if its body has several pieces. A client may send each byte as a piece of its own. */
export function computePieceMemory(bytes: number): number {
  return bytes < pieceOverheadBytes ? bytes + pieceOverheadBytes : bytes;
}

export interface BodyLimits {
  /** Largest size of a body after decompression. */
  maxBytes: number;
  timeoutMs: number;
}

/**
 * Reads a request's whole body, decompressed and without a byte order mark.
 * @param reservation the memory reserved for the request; an error that it throws ends the reading
 * @throws RouterError `body_too_large`, `request_timeout`, `unsupported_encoding`; `invalid_json` for a body that is cut off or cannot be
 * decompressed. Throws as soon as the problem is detected; the rest of the request stays unread, see `refuse`
 */
export type ReadBody = (
  request: IncomingMessage,
  reservation: Pick<BodyReservation, 'grow' | 'markSlow' | 'markArrived'>,
) => Promise<Buffer>;

export function createBodyReader({ maxBytes, timeoutMs }: BodyLimits): ReadBody {
  return async (request, reservation) => {
    const decoder = createDecoder(request.headers['content-encoding']);
    if (!decoder && Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLargeError(maxBytes);
    const { promise: arrived, resolve, reject } = Promise.withResolvers<void>();
    let parts: Buffer[] = [];
    let bytes = 0;
    const onData = (part: Buffer): void => {
      bytes += part.length;
      parts.push(part);
      try {
        if (bytes > maxBytes) throw tooLargeError(maxBytes);
        if (decoder && bytes > Math.max(expandedBytes, decoder.bytesWritten * maxExpansion)) throw tooExpandedError();
        reservation.grow(parts.length === 1 ? part.length : computePieceMemory(part.length));
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
    // Most bodies arrive together with their headers and are complete in the next turn of the event loop. In the next tick, they are not:
    // ticks run between the last piece of a body and its end.
    setImmediate(() => {
      if (request.complete || isOver) return;
      timer = setTimeout(() => reject(tooSlowError(timeoutMs)), timeoutMs);
      reservation.markSlow(reject);
    });
    const source = decoder ? request.pipe(decoder) : request;
    source.on('data', onData).on('end', onEnd).on('error', onError);
    request.on('close', onClose);
    if (request.destroyed) onClose();
    try {
      await arrived;
      return removeByteOrderMark(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts));
    } catch (error) {
      source.off('data', onData);
      throw error;
    } finally {
      isOver = true;
      reservation.markArrived();
      clearTimeout(timer);
      // The listeners stay on the request, which lives as long as its answer, so they must not reference the body. Removing them would cost
      // more, because it deletes a property, and V8 then keeps the emitter's listeners in a slower form.
      parts = [];
      if (decoder) {
        request.unpipe(decoder);
        decoder.destroy();
      }
    }
  };
}

/** Some editors and programs on Windows put this mark in front of a text. JSON does not allow the mark. */
const byteOrderMark = Buffer.from('\uFEFF');

function removeByteOrderMark(body: Buffer): Buffer {
  const { length } = byteOrderMark;
  return body.subarray(0, length).equals(byteOrderMark) ? body.subarray(length) : body;
}

/**
 * Returns the stream that decodes a content-encoding; undefined for an unencoded body.
 * @throws RouterError `unsupported_encoding`
 */
function createDecoder(encoding: string | undefined): Decoder | undefined {
  switch (encoding?.trim().toLowerCase()) {
    case undefined:
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLog } });
    default:
      throw new RouterError(
        'unsupported_encoding',
        'The content-encoding of the request is not supported: it may be gzip, deflate, br or zstd.',
      );
  }
}

function tooLargeError(maxBytes: number): RouterError {
  return new RouterError('body_too_large', `The request body is larger than ${maxBytes} bytes.`);
}

function tooExpandedError(): RouterError {
  return new RouterError(
    'body_too_large',
    `The request body is more than ${maxExpansion} times as large as what was sent.`,
  );
}

function tooSlowError(timeoutMs: number): RouterError {
  return new RouterError('request_timeout', `The request body did not arrive within ${timeoutMs / 1000} seconds.`);
}
