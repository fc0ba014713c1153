import { isLoopback, listExternalAddresses } from '#shared/core/own-addresses.ts';
import { resolveRouterAddress, type AddressedRequest } from '#shared/core/router-address.ts';

export interface RouterListening {
  publicUrl: string | undefined;
  /** The address on which the router listens, such as `127.0.0.1` or `0.0.0.0`. */
  host: string;
  /** Whether the router itself answers HTTPS. */
  hasTls: boolean;
}

/** The origin at which another machine most likely reaches a router. */
export interface JoinAddress {
  address: string;
  /** Whether it is the first address that the router's machine sees itself at, so that others may reach it at another one. */
  isGuess: boolean;
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
): JoinAddress {
  if (publicUrl !== undefined) return { address: new URL(publicUrl).origin, isGuess: false };
  const requested = new URL(resolveRouterAddress(request, undefined));
  if (hasTls) requested.protocol = 'https:';
  if (!isLoopback(requested.origin)) return { address: requested.origin, isGuess: false };
  const isGuess = ['0.0.0.0', '::'].includes(host);
  const listening = isGuess ? (listAddresses()[0] ?? '127.0.0.1') : host;
  const address = `http${hasTls ? 's' : ''}://${listening.includes(':') ? `[${listening}]` : listening}:${port}`;
  return isLoopback(address) ? { address: `http://127.0.0.1:${port}`, isGuess: false } : { address, isGuess };
}
