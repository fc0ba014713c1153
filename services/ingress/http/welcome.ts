import type { RequestHandler } from 'express';
import { version } from '#shared/core/version.ts';

/**
 * Answers `GET /` of a program that asks for no page, as `curl` does: where the console and the APIs are.
 * @param publicUrl address at which people reach the router; that of the request if unset
 * @param apis names of the APIs with their paths
 */
export function welcome(
  publicUrl: string | undefined,
  apis: readonly { name: string; path: string }[],
): RequestHandler {
  return (request, response, next) => {
    if (request.get('accept')?.includes('text/html')) return next();
    const base = (publicUrl ?? `${request.protocol}://${request.get('host') ?? ''}`).replace(/\/$/, '');
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
