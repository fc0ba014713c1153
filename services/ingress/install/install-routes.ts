import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { TLSSocket } from 'node:tls';
import { Router, type Request } from 'express';
import type { Logger } from '#shared/core/log.ts';
import { resolveRouterAddress } from '#shared/core/router-address.ts';
import { version } from '#shared/core/version.ts';
import { readCertificateFacts } from '#shared/core/tls/read-certificate-facts.ts';
import { writeInstallScript } from './install-script.ts';

export interface InstallRoutesParts {
  /** `PUBLIC_URL`. */
  publicUrl: string | undefined;
  /** Reads the package from which this router runs. */
  readPackage: () => Promise<Buffer>;
  log: Pick<Logger, 'warn'>;
}

/** Milliseconds after which a package that could not be read is read again. Building one takes the machine for seconds. */
const retryMs = 60_000;

/** Milliseconds without progress after which a download is ended. */
const stalledMs = 30_000;

/** Bytes of a package that are written at once. */
const pieceBytes = 64 * 1024;

const missingPackage =
  'This router cannot build its package: its log says why. Install Model Router from where this router was installed.\n';

/**
 * The addresses of the package. `npx` never looks again at an address that it has installed from, so that only the address with the version
 * gets the release that a router has been changed to.
 */
const packagePaths = ['/rtr.tgz', `/rtr-${version}.tgz`];

/**
 * Creates the routes from which other machines install this router's release: the package for npm, and `/install`, a script that runs it.
 * All answers share one copy of the package, which is read at the first request.
 */
export function createInstallRoutes({ publicUrl, readPackage, log }: InstallRoutesParts): Router {
  const routes = Router({ caseSensitive: true, strict: true });
  let archive: Promise<{ content: Buffer; etag: string } | undefined> | undefined;
  let failedAt = 0;
  const readOnce = (): typeof archive => {
    if (Date.now() < failedAt + retryMs) return undefined;
    return (archive ??= readPackage().then(
      (content) => ({ content, etag: `"${createHash('sha256').update(content).digest('base64url')}"` }),
      (err: unknown) => {
        log.warn({ err }, 'the package for other machines cannot be read');
        [archive, failedAt] = [undefined, Date.now()];
        return undefined;
      },
    ));
  };
  routes.get(packagePaths, async (request, response) => {
    const found = await readOnce();
    if (!found) return void response.status(404).type('text/plain').send(missingPackage);
    const { content, etag } = found;
    response.set({ etag, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' });
    if (request.get('if-none-match') === etag) return void response.status(304).end();
    response.set({ 'content-type': 'application/gzip', 'content-length': String(content.length) });
    if (request.method === 'HEAD') return void response.end();
    // A client that does not read holds a piece of the package, and not all of it.
    response.setTimeout(stalledMs, () => response.destroy());
    // The client has closed the connection, or reads no more.
    await pipeline(splitIntoPieces(content), response).catch(() => undefined);
  });
  routes.get('/install', (request, response) => {
    response
      .set({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' })
      .type('text/plain')
      .send(writeInstallScript(resolveRouterAddress(request, publicUrl), findPinnedKey(request)));
  });
  return routes;
}

function* splitIntoPieces(content: Buffer): Generator<Buffer> {
  for (let start = 0; start < content.length; start += pieceBytes) yield content.subarray(start, start + pieceBytes);
}

/** Returns the digest of the key of this connection's certificate if no authority has signed it, so that programs must name the key. */
function findPinnedKey({ socket }: Request): string | undefined {
  const certificate = socket instanceof TLSSocket ? socket.getX509Certificate() : undefined;
  if (!certificate) return undefined;
  const { selfSigned, spki } = readCertificateFacts(certificate.toString());
  return selfSigned ? spki : undefined;
}
