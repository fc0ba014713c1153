import type { RequestHandler } from 'express';
import { resolveRouterAddress } from '#shared/core/router-address.ts';
import { version } from '#shared/core/version.ts';

/**
 * Creates the handler of `GET /` that lists the URLs of the console and the APIs, for clients that do not request HTML, such as `curl`.
 * @param publicUrl URL at which people reach the router; if undefined, the URL of the request is used
 * @param apis names and paths of the APIs
 */
export function answerAddressList(
  publicUrl: string | undefined,
  apis: readonly { name: string; path: string }[],
): RequestHandler {
  return (request, response, next) => {
    if (request.get('accept')?.includes('text/html')) return next();
    const base = resolveRouterAddress(request, publicUrl);
    const lines = [
      `Model Router ${version}`,
      '',
      `console      ${base}/`,
      ...apis.map(({ name, path }) => `${name.padEnd(12)} ${base}${path}`),
      `health       ${base}/health`,
    ];
    response.type('text/plain').send(`${lines.join('\n')}\n`);
  };
}
