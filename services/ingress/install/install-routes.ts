import { createHash } from 'node:crypto';
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
  const readOnce = (): typeof archive =>
    (archive ??= readPackage().then(
      (content) => ({ content, etag: `"${createHash('sha256').update(content).digest('base64url')}"` }),
      (err: unknown) => {
        log.warn({ err }, 'the package for other machines cannot be read');
        archive = undefined;
        return undefined;
      },
    ));
  routes.get(packagePaths, async (request, response) => {
    const found = await readOnce();
    if (!found) return void response.status(404).type('text/plain').send(missingPackage);
    const { content, etag } = found;
    response.set({ etag, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' });
    if (request.get('if-none-match') === etag) return void response.status(304).end();
    response.set({ 'content-type': 'application/gzip', 'content-length': String(content.length) });
    return void response.end(request.method === 'HEAD' ? undefined : content);
  });
  routes.get('/install', (request, response) => {
    response
      .set({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' })
      .type('text/plain')
      .send(writeInstallScript(resolveRouterAddress(request, publicUrl), findPinnedKey(request)));
  });
  return routes;
}

/** Returns the digest of the key of this connection's certificate if no authority has signed it, so that programs must name the key. */
function findPinnedKey({ socket }: Request): string | undefined {
  const certificate = socket instanceof TLSSocket ? socket.getX509Certificate() : undefined;
  if (!certificate) return undefined;
  const { selfSigned, spki } = readCertificateFacts(certificate.toString());
  return selfSigned ? spki : undefined;
}
