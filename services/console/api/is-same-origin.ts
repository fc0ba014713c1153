import type { Request } from 'express';

/**
 * Whether a request comes from a page of this origin, or from no page at all. A browser that says so itself is believed
 * (Fetch Metadata, `Sec-Fetch-Site`); from one that does not, as over plain HTTP, `Origin` must name the host that was asked.
 */
export function isSameOrigin(request: Request): boolean {
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const origin = request.get('origin');
  return origin === undefined || (URL.parse(origin)?.host ?? 'none') === request.get('host');
}
