import { RouterError } from './errors.ts';

/** What of an HTTP request says at which address it came in. */
export interface AddressedRequest {
  readonly protocol: string;
  get(name: 'host'): string | undefined;
}

/**
 * The address at which people reach the router, without a slash at its end.
 * @param publicUrl `PUBLIC_URL`; the address of the request if unset
 * @throws RouterError `invalid_request` for a request whose `Host` is none
 */
export function routerAddress(request: AddressedRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/$/, '');
  const url = URL.parse(`${request.protocol}://${request.get('host') ?? ''}`);
  if (!url) throw new RouterError('invalid_request', 'The header `Host` is not the name of a host.');
  return url.origin;
}
