import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'undici';
import {
  createGuardedAgent,
  requireHttp,
  type AddressGuard,
  type GuardedAgent,
  PublicFetchError,
} from './guarded-agent.ts';

/** An answer other than a redirect, with its body unread. */
export interface PublicAnswer {
  /** The URL that answered, after redirects. */
  url: URL;
  status: number;
  headers: IncomingHttpHeaders;
  body: AsyncIterable<Buffer>;
}

/**
 * Fetches a URL and calls `read` with the answer. Closes the connection when `read` settles.
 * @param allowsUrl called with each URL, including the URLs of redirects, before the connection is opened; default: allows every URL
 */
export type PublicFetch = <T>(
  url: URL,
  read: (answer: PublicAnswer) => Promise<T>,
  signal: AbortSignal,
  allowsUrl?: (url: URL) => boolean,
) => Promise<T>;

export interface PublicFetchOptions extends AddressGuard {
  /** Time limit from the first connection to the end of `read`, in milliseconds. */
  timeoutMs: number;
  headers?: Record<string, string>;
}

const maxRedirects = 3;

/**
 * Creates a function that fetches (GET) from allowed addresses only, see `createGuardedAgent`. Each redirect is checked like the first URL.
 * The function rejects with a PublicFetchError, an error of `read`, or the signal's reason.
 */
export function createPublicFetch({ timeoutMs, headers = {}, ...guard }: PublicFetchOptions): PublicFetch {
  return async function publicFetch(url, read, signal, allowsUrl = () => true) {
    const guarded = createGuardedAgent(guard);
    const abortOrTimeout = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    let hasAnswered = false;
    try {
      const answer = await followRedirects(url, guarded, abortOrTimeout, allowsUrl);
      hasAnswered = true;
      return await read(answer);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (abortOrTimeout.aborted) throw new PublicFetchError('it took too long', { cause: error });
      if (hasAnswered || error instanceof PublicFetchError) throw error;
      throw new PublicFetchError('its server could not be reached', { cause: error });
    } finally {
      await guarded.agent.destroy();
    }
  };

  async function followRedirects(
    from: URL,
    { agent, requireAllowed }: GuardedAgent,
    signal: AbortSignal,
    allowsUrl: (url: URL) => boolean,
  ): Promise<PublicAnswer> {
    let url = from;
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      requireHttp(url);
      if (!allowsUrl(url)) throw new PublicFetchError('its address is not of an allowed domain', { refused: url });
      requireAllowed(url);
      const {
        statusCode: status,
        headers: responseHeaders,
        body,
      } = await request(url, {
        dispatcher: agent,
        headers: { 'accept-encoding': 'identity', ...headers },
        signal,
      });
      const { location } = responseHeaders;
      if (status < 300 || status >= 400 || typeof location !== 'string')
        return { url, status, headers: responseHeaders, body };
      const target = URL.parse(location, url.href);
      if (!target) throw new PublicFetchError('it redirects to an invalid address');
      await body.dump({ limit: 16 * 1024, signal });
      url = target;
    }
    throw new PublicFetchError('it redirects too often');
  }
}

/**
 * Reads a whole body.
 * @throws PublicFetchError if the body has more than `maxBytes`, is compressed although the request accepts no compression, or breaks off
 */
export async function readBounded({ headers, body }: PublicAnswer, maxBytes: number): Promise<Buffer> {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new PublicFetchError(`it is compressed (${encoding}), which was not asked for`);
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw createTooLargeError();
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw createTooLargeError();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof PublicFetchError ? error : new PublicFetchError('its answer broke off', { cause: error });
  }
  return Buffer.concat(chunks);
}

function createTooLargeError(): PublicFetchError {
  return new PublicFetchError('it is too large');
}
