import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { isPublicAddress } from './is-public-address.ts';
import { PublicFetchError } from './public-fetch-error.ts';

const connectTimeoutMs = 3000;

/** Which addresses may be connected to. */
export interface AddressGuard {
  /** Decides which IP addresses it may connect to; default: public ones. */
  isAllowed?: ((address: string) => boolean) | undefined;
  /** Resolves names; default: the system's resolver. */
  lookup?: typeof systemLookup | undefined;
}

/** What one exchange needs to reach allowed addresses only. */
export interface GuardedAgent {
  /** The connections of this exchange: none is remembered, and no host. */
  agent: Agent;
  /** @throws PublicFetchError for a URL whose host is an IP address that is not allowed: it is not resolved, so the agent lets it pass */
  requireAllowed: (url: URL) => void;
}

/**
 * Prepares an exchange with allowed addresses, so that no request can make this process read from its own network or write to it.
 * Addresses are checked after name resolution, when the connection is made, so a name that resolves differently the second time gains
 * nothing. Hosts written as numbers, in octal or in hexadecimal have become IP addresses before the check, by URL parsing (WHATWG URL,
 * 3.5).
 */
export function guardedAgent({ isAllowed = isPublicAddress, lookup = systemLookup }: AddressGuard): GuardedAgent {
  const agent = new Agent({
    connect: { lookup: guardedLookup(lookup, isAllowed), timeout: connectTimeoutMs },
    allowH2: false,
  });
  return {
    agent,
    requireAllowed: (url) => {
      const host = url.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) !== 0 && !isAllowed(host)) throw notPublic();
    },
  };
}

/** @throws PublicFetchError for a URL of another scheme than http or https */
export function requireHttp({ protocol }: URL): void {
  if (protocol !== 'http:' && protocol !== 'https:') throw new PublicFetchError('only http and https are fetched');
}

/** A lookup that refuses a name if any of its addresses is not allowed. */
function guardedLookup(lookup: typeof systemLookup, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => isAllowed(address))) return callback(notPublic(), '', 0);
      if (options.all) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}

function notPublic(): PublicFetchError {
  return new PublicFetchError('its address is not public');
}
