import { RouterError } from './errors.ts';

/** The parts of an HTTP request that contain its URL. */
export interface AddressedRequest {
  readonly protocol: string;
  get(name: 'host'): string | undefined;
}

/**
 * A host name, an IPv4 address or an IPv6 address in brackets, and a port. Other parts of a URL's authority, such as `user@`, are not
 * allowed.
 */
const hostHeader = /^(?:(?<name>[\w.-]+)|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Returns the URL at which people reach the router, without a trailing slash.
 * @param publicUrl `PUBLIC_URL`; if unset, the URL of the request is used
 * @throws RouterError `invalid_request` for a request whose `Host` is not a host name
 */
export function resolveRouterAddress(request: AddressedRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/$/, '');
  const host = request.get('host') ?? '';
  const match = hostHeader.exec(host);
  const url = match && URL.parse(`${request.protocol}://${host}`);
  const name = match?.groups?.['name']?.toLowerCase();
  // The URL parser also accepts `0x7f.1` and `2130706433` for 127.0.0.1.
  if (!url || (name !== undefined && url.hostname !== name)) {
    throw new RouterError('invalid_request', 'The header `Host` is not the name of a host.');
  }
  return url.origin;
}
