import type { Request, Response } from 'express';
import type { PageFile } from './page-files.ts';

/**
 * Sends a file of the built pages, compressed as the browser accepts.
 * @param headers in addition to those that every file has, or instead of them
 */
export function sendPageFile(
  request: Request,
  response: Response,
  { type, isHashed, plain, br, gzip }: PageFile,
  headers: Record<string, string> = {},
): void {
  const encoding = request.acceptsEncodings(...(br ? ['br'] : []), ...(gzip ? ['gzip'] : []), 'identity');
  const body = (encoding === 'br' ? br : encoding === 'gzip' ? gzip : undefined) ?? plain;
  response.set({
    'content-type': type,
    'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    ...headers,
    'content-length': String(body.length),
    vary: 'accept-encoding',
  });
  if (body !== plain) response.set('content-encoding', encoding || 'identity');
  response.end(request.method === 'HEAD' ? undefined : body);
}
