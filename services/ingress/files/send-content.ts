import type { Request, Response } from 'express';
import { once } from 'node:events';
import { RouterError } from '#shared/core/errors.ts';
import type { ShownFile } from '#shared/formats/format-files.ts';

/** Bytes of a file from `from` up to, but not including, `to`. */
export interface ContentRange {
  from: number;
  to: number;
}

export interface ContentParts {
  file: ShownFile;
  read: (range: ContentRange, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  /** Milliseconds without progress after which a client that does not read is disconnected. */
  timeoutMs: number;
}

/**
 * Sends the content of a file, or the requested range (RFC 9110, 14), as fast as the client reads.
 * @throws RouterError `range_not_satisfiable`; an error of `read`. A later error closes the connection before it is thrown, so that the
 * client sees that bytes are missing
 */
export async function sendContent(request: Request, response: Response, parts: ContentParts): Promise<void> {
  const { file, read, timeoutMs } = parts;
  const range = readRange(request.headers.range, file.bytes, response);
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const { from, to } = range ?? { from: 0, to: file.bytes };
  const content = request.method === 'HEAD' ? undefined : await read({ from, to }, gone.signal);
  response.writeHead(range ? 206 : 200, {
    'content-type': file.mimeType,
    'content-length': to - from,
    'content-disposition': toContentDisposition(file.name),
    'accept-ranges': 'bytes',
    ...(range && { 'content-range': `bytes ${from}-${to - 1}/${file.bytes}` }),
    // A browser must not show an uploaded file as a page of the router.
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store',
  });
  try {
    for await (const piece of content ?? []) {
      if (response.destroyed) return;
      if (!response.write(piece)) await waitForDrain(response, timeoutMs, gone.signal);
    }
    response.end();
  } catch (error) {
    response.destroy();
    if (!gone.signal.aborted) throw error;
  }
}

/** Waits until the client has read what was sent. Disconnects a client that reads nothing for `timeoutMs`. */
async function waitForDrain(response: Response, timeoutMs: number, gone: AbortSignal): Promise<void> {
  const timer = setTimeout(() => response.destroy(), timeoutMs);
  try {
    await once(response, 'drain', { signal: gone });
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the requested range; undefined for the whole file, also when the header asks for several ranges or is malformed. */
function readRange(header: string | undefined, bytes: number, response: Response): ContentRange | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (first === '' && last === '') return undefined;
  const from = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1);
  if (from < to) return { from, to };
  if (first !== '' && last !== '' && Number(last) < from) return undefined;
  response.setHeader('content-range', `bytes */${bytes}`);
  throw new RouterError('range_not_satisfiable', `The file has ${bytes} bytes: there are none in this range.`);
}

/** Returns a `Content-Disposition` with the file's name (RFC 6266). */
function toContentDisposition(name: string): string {
  const plain = name.replaceAll(/[^\w.-]/g, '_').slice(0, 100);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name).replaceAll(/['()*]/g, percentEncode)}`;
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
