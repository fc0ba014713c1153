import { listExternalAddresses } from '#shared/core/external-addresses.ts';
import { resolveRouterAddress, type AddressedRequest } from '#shared/core/router-address.ts';

export interface RouterListening {
  publicUrl: string | undefined;
  /** The address on which the router listens, such as `127.0.0.1` or `0.0.0.0`. */
  host: string;
  /** Whether the router itself answers HTTPS. */
  hasTls: boolean;
}

/**
 * Finds the origin at which another machine most likely reaches the router: `PUBLIC_URL`, else the address of the request unless it is of
 * this machine alone, else the address on which the router listens.
 * @param port the port that the router listens on
 * @throws RouterError `invalid_request` for a request whose `Host` is not a host name
 */
export function findJoinAddress(
  { publicUrl, host, hasTls }: RouterListening,
  request: AddressedRequest,
  port: number,
  listAddresses: () => readonly string[] = listExternalAddresses,
): string {
  if (publicUrl !== undefined) return new URL(publicUrl).origin;
  const requested = new URL(resolveRouterAddress(request, undefined));
  if (hasTls) requested.protocol = 'https:';
  if (!isLoopback(requested.hostname)) return requested.origin;
  const listening = ['0.0.0.0', '::'].includes(host) ? listAddresses()[0] : host;
  if (listening === undefined || isLoopback(listening)) return `http://127.0.0.1:${port}`;
  return `${hasTls ? 'https' : 'http'}://${listening.includes(':') ? `[${listening}]` : listening}:${port}`;
}

export function isLoopback(host: string): boolean {
  return /^(?:127\.|localhost$|\[?::1\]?$)/.test(host);
}
