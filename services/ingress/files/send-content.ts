import type { Request, Response } from 'express';
import type { FileRecord } from '#shared/accounts/files/file-records.ts';
import { RouterError } from '#shared/core/errors.ts';
import { waitForDrain } from '#shared/core/wait-for-drain.ts';
import type { Files } from '#shared/files/files.ts';
import type { UnreadOutput, UnreadOutputs } from '../http/unread/unread-outputs.ts';

/** A range of bytes in a file. `from` is inclusive, `to` is exclusive. */
interface ContentRange {
  from: number;
  to: number;
}

export interface ContentParts {
  files: Pick<Files, 'read'>;
  unreadOutputs: UnreadOutputs;
  /** Milliseconds after which a client that reads nothing is disconnected. */
  bodyTimeoutMs: number;
}

/**
 * Sends the content of a file, or the requested range (RFC 9110, 14), as fast as the client reads. When the unread output of all clients
 * exceeds its limit, the client may be disconnected. It can then request the rest.
 * @throws RouterError `range_not_satisfiable`; an error of `files.read`. A later error closes the connection before it is thrown, so that
 * the client sees that bytes are missing. Nothing is thrown once the client has left
 */
export async function sendContent(
  request: Request,
  response: Response,
  file: FileRecord,
  { files, unreadOutputs, bodyTimeoutMs }: ContentParts,
): Promise<void> {
  const range = readRange(request.headers.range, file.bytes, response);
  const clientGone = new AbortController();
  response.on('close', () => clientGone.abort());
  try {
    const { from, to } = range ?? { from: 0, to: file.bytes };
    const content = request.method === 'HEAD' ? [] : await files.read(file, { from, to }, clientGone.signal);
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
    const output = watchUnread(response, unreadOutputs);
    for await (const piece of content) {
      if (response.destroyed) return;
      if (response.write(piece)) continue;
      unreadOutputs.count(output);
      await waitForDrain(response, bodyTimeoutMs);
      unreadOutputs.count(output);
    }
    response.end();
    if (response.writableLength > 0) response.setTimeout(bodyTimeoutMs, () => response.destroy());
  } catch (error) {
    if (clientGone.signal.aborted) return;
    if (response.headersSent) response.destroy();
    throw error;
  }
}

/** Registers the unread bytes of a response with `outputs`, until the client disconnects. At most one piece of the content is unread. */
function watchUnread(response: Response, outputs: UnreadOutputs): UnreadOutput {
  const output = {
    get unreadBytes() {
      return response.destroyed ? 0 : response.writableLength;
    },
    isEnding: false,
    giveUp: () => void response.destroy(),
  };
  response.once('close', () => outputs.count(output));
  return output;
}

/**
 * Returns the requested range; undefined for the whole file. A malformed header, or one that asks for several ranges, requests the whole
 * file.
 */
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
