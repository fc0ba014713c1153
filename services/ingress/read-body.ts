import { isUtf8 } from 'node:buffer';
import { raw, type Request, type Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';

export interface BodyLimits {
  /** Bytes of one body, after decompression. */
  maxBytes: number;
  /** Milliseconds for a body to arrive. */
  timeoutMs: number;
}

/** Reads a request's whole body, decompressed (gzip, deflate, br, zstd). */
export type ReadBody = (request: Request, response: Response) => Promise<Buffer>;

/**
 * Makes the reader of bodies. It rejects with `body_too_large`, `request_timeout`, `unsupported_encoding` or
 * `invalid_json` (a body that is cut off or cannot be decompressed).
 */
export function createBodyReader({ maxBytes, timeoutMs }: BodyLimits): ReadBody {
  const parse = raw({ type: () => true, limit: maxBytes });
  return (request, response) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(
          new RouterError('request_timeout', `The request body did not arrive within ${timeoutMs / 1000} seconds.`),
        );
      }, timeoutMs);
      parse(request, response, (error?: unknown) => {
        clearTimeout(timer);
        const body: unknown = request.body;
        // The request lives as long as its answer; the body need not.
        request.body = undefined;
        if (error) reject(explain(error, maxBytes));
        else resolve(Buffer.isBuffer(body) ? body : Buffer.alloc(0));
      });
    });
}

/**
 * Reads a body as JSON.
 * @throws RouterError `invalid_json`
 */
export function parseBody(body: Buffer): unknown {
  if (body.length === 0) throw new RouterError('invalid_json', 'The request has no body; a JSON object is expected.');
  if (!isUtf8(body)) throw new RouterError('invalid_json', 'The request body is not valid UTF-8.');
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    // The parser's own words may quote the body, so they stay out of the answer.
    throw new RouterError('invalid_json', 'We could not parse the JSON body of your request.', { cause });
  }
}

/** What the body parser reports, by its documented `type`. */
function explain(error: unknown, maxBytes: number): unknown {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  switch (type) {
    case 'entity.too.large':
      return new RouterError('body_too_large', `The request body is larger than ${maxBytes} bytes.`, { cause: error });
    case 'encoding.unsupported':
      return new RouterError('unsupported_encoding', 'The content-encoding of the request is not supported.', {
        cause: error,
      });
    case 'request.aborted':
    case 'request.size.invalid':
      return new RouterError('invalid_json', 'The request body was cut off.', { cause: error });
    default:
      return new RouterError('invalid_json', 'The request body could not be read.', { cause: error });
  }
}
