/** The parts of an HTTP request that name the page it comes from. */
export interface PageRequest {
  get(name: string): string | undefined;
}

/**
 * Whether a request comes from a page of this origin, or from no page at all. Uses `Sec-Fetch-Site` (Fetch Metadata) if the browser
 * sends it; otherwise, as over plain HTTP, `Origin` must name the requested host.
 */
export function isSameOrigin(request: PageRequest): boolean {
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const origin = request.get('origin');
  return origin === undefined || (URL.parse(origin)?.host ?? 'none') === request.get('host');
}
