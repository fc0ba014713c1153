import { isIP, type LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { isPublicAddress } from './is-public-address.ts';
import { createNameLookup, type LookupName } from './lookup-name.ts';

/** Maximum milliseconds to open a connection. */
const connectTimeoutMs = 3000;

/** The addresses to which an exchange may connect, and how host names are resolved to them. */
export interface AddressGuard {
  /** Returns whether an exchange may connect to an IP address; default: `isPublicAddress`. */
  isAllowed?: ((address: string) => boolean) | undefined;
  /** Resolves host names; default: see `createNameLookup`. */
  lookup?: LookupName | undefined;
}

/** An agent and a check that restrict one exchange to allowed addresses. */
export interface GuardedAgent {
  /** An agent for this exchange alone. It shares no connection and no resolved host with other agents. The caller must destroy it. */
  agent: Agent;
  /** @throws PublicFetchError if the URL's host is an IP address that is not allowed. The agent checks only hosts with a name */
  requireAllowed: (url: URL) => void;
}

const lookupName = createNameLookup();

/**
 * Prepares one exchange with allowed addresses, so that no request can make this process read from its own network or write to it. The
 * agent checks addresses after name resolution, when it connects. So a name that resolves to another address the second time is checked
 * again. URL parsing turns hosts in decimal, octal or hexadecimal into IP addresses before the check (WHATWG URL, 3.5).
 */
export function createGuardedAgent({ isAllowed = isPublicAddress, lookup = lookupName }: AddressGuard): GuardedAgent {
  const agent = new Agent({
    connect: { lookup: createGuardedLookup(lookup, isAllowed), timeout: connectTimeoutMs },
    allowH2: false,
  });
  return {
    agent,
    requireAllowed: (url) => {
      const host = url.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) !== 0 && !isAllowed(host)) throw createNotPublicError();
    },
  };
}

/** @throws PublicFetchError unless the URL's scheme is http or https */
export function requireHttp({ protocol }: URL): void {
  if (protocol !== 'http:' && protocol !== 'https:') throw new PublicFetchError('only http and https are fetched');
}

/** Returns a lookup that refuses a name if any of its addresses is not allowed. */
function createGuardedLookup(lookup: LookupName, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => isAllowed(address)))
        return callback(createNotPublicError(), '', 0);
      if (options.all) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}

function createNotPublicError(): PublicFetchError {
  return new PublicFetchError('its address is not public');
}

/**
 * Thrown when a URL could not be fetched. The message continues a sentence that names the URL, such as "its address is not public", and may
 * be shown to clients.
 */
export class PublicFetchError extends Error {
  override name = 'PublicFetchError';
  /** The URL that `allowsUrl` refused; undefined for other reasons. */
  readonly refusedUrl: URL | undefined;

  constructor(message: string, { refused, ...options }: ErrorOptions & { refused?: URL } = {}) {
    super(message, options);
    this.refusedUrl = refused;
  }
}
