import { lookup as systemLookup } from 'node:dns';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { isPublicAddress } from './is-public-address.ts';

/** A URL could not be fetched. The message is a clause that may be shown to the client, such as "its address is not public". */
export class PublicFetchError extends Error {
  override name = 'PublicFetchError';
  /** The address that the caller does not allow; undefined for other reasons. */
  readonly refused: URL | undefined;

  constructor(message: string, { refused, ...options }: ErrorOptions & { refused?: URL } = {}) {
    super(message, options);
    this.refused = refused;
  }
}

/** An answer other than a redirect, with its body unread. */
export interface PublicAnswer {
  /** The URL that answered, after redirects. */
  url: URL;
  status: number;
  headers: IncomingHttpHeaders;
  body: AsyncIterable<Buffer>;
}

/**
 * Fetches a URL and calls `read` with the answer; the connection is closed when `read` settles.
 * @param allowsUrl decides about every address, that of each redirect too, before it is connected to; default: all are allowed
 */
export type PublicFetch = <T>(
  url: URL,
  read: (answer: PublicAnswer) => Promise<T>,
  signal: AbortSignal,
  allowsUrl?: (url: URL) => boolean,
) => Promise<T>;

export interface PublicFetchOptions {
  /** Time limit from the first connection to the end of `read`, in milliseconds. */
  timeoutMs: number;
  headers?: Record<string, string>;
  /** Decides which IP addresses it may connect to; default: public ones. */
  isAllowed?: (address: string) => boolean;
  /** Resolves names; default: the system's resolver. */
  lookup?: typeof systemLookup;
}

const connectTimeoutMs = 3000;
const maxRedirects = 3;

/**
 * Creates a function that fetches (GET) from public addresses only, so that no request can make this process read from its
 * own network. Addresses are checked after name resolution, when the connection is made, so a name that resolves differently
 * the second time gains nothing; every redirect is checked anew. Hosts written as numbers, in octal or in hexadecimal have
 * become IP addresses before the check, by URL parsing (WHATWG URL, 3.5).
 *
 * The function rejects with a PublicFetchError, an error of `read`, or the signal's reason.
 */
export function createPublicFetch({
  timeoutMs,
  headers = {},
  isAllowed = isPublicAddress,
  lookup = systemLookup,
}: PublicFetchOptions): PublicFetch {
  const guarded = guardedLookup(lookup, isAllowed);

  return async function publicFetch(url, read, signal, allowsUrl = () => true) {
    // One agent per fetch, so that no connection and no host is remembered.
    const agent = new Agent({ connect: { lookup: guarded, timeout: connectTimeoutMs }, allowH2: false });
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    let answered = false;
    try {
      const answer = await follow(url, agent, inTime, allowsUrl);
      answered = true;
      return await read(answer);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (inTime.aborted) throw new PublicFetchError('it took too long', { cause: error });
      if (answered || error instanceof PublicFetchError) throw error;
      throw new PublicFetchError('its server could not be reached', { cause: error });
    } finally {
      await agent.destroy();
    }
  };

  async function follow(
    from: URL,
    agent: Agent,
    signal: AbortSignal,
    allowsUrl: (url: URL) => boolean,
  ): Promise<PublicAnswer> {
    let url = from;
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:')
        throw new PublicFetchError('only http and https are fetched');
      if (!allowsUrl(url)) throw new PublicFetchError('its address is not of an allowed domain', { refused: url });
      // A host that is an IP address is not resolved, so the lookup does not check it.
      const host = url.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) !== 0 && !isAllowed(host)) throw notPublic();
      const {
        statusCode: status,
        headers: answered,
        body,
      } = await request(url, {
        dispatcher: agent,
        headers: { 'accept-encoding': 'identity', ...headers },
        signal,
      });
      const { location } = answered;
      if (status < 300 || status >= 400 || typeof location !== 'string')
        return { url, status, headers: answered, body };
      const next = URL.parse(location, url.href);
      if (!next) throw new PublicFetchError('it redirects to an invalid address');
      await body.dump({ limit: 16 * 1024, signal });
      url = next;
    }
    throw new PublicFetchError('it redirects too often');
  }
}

/**
 * Reads a whole body.
 * @throws PublicFetchError if it has more than `maxBytes`, is compressed against the request, or breaks off
 */
export async function readBounded({ headers, body }: PublicAnswer, maxBytes: number): Promise<Buffer> {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new PublicFetchError(`it is compressed (${encoding}), which was not asked for`);
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof PublicFetchError ? error : new PublicFetchError('its answer broke off', { cause: error });
  }
  return Buffer.concat(chunks);
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

function tooLarge(): PublicFetchError {
  return new PublicFetchError('it is too large');
}
