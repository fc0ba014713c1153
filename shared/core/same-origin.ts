/** The headers of an HTTP request that name the page from which it comes. */
export interface PageRequest {
  get(name: string): string | undefined;
}

/**
 * Whether a request comes from a page of this origin. Uses `Sec-Fetch-Site` (Fetch Metadata) if the browser sends it. Otherwise, as over
 * plain HTTP, `Origin` must name the requested host. A request without either header counts as one of this origin, because no page has sent
 * it.
 */
export function isSameOrigin(request: PageRequest): boolean {
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const origin = request.get('origin');
  return origin === undefined || (URL.parse(origin)?.host ?? 'none') === request.get('host');
}
