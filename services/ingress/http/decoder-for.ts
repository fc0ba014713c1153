import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { RouterError } from '#shared/core/errors.ts';

/** Log2 of the memory that a zstd body may make its decoder take: 16 MiB. The format allows far more. */
const zstdWindowLog = 24;

/**
 * The stream that undoes a request's content-encoding; undefined when there is nothing to undo.
 * @throws RouterError `unsupported_encoding`
 */
export function decoderFor(encoding: string | undefined): Transform | undefined {
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
