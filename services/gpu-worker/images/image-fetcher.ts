import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { isPublicAddress } from './is-public-address.ts';

/** Gets an image from its http address. Resolves to a data URL. */
export type ImageFetcher = (url: URL, maxBytes: number, signal: AbortSignal) => Promise<string>;

/** An image cannot be had. The message is a clause fit for the client: it completes "the image was not fetched: …". */
export class ImageError extends Error {
  override name = 'ImageError';
}

const timeoutMs = 10_000;
const connectTimeoutMs = 3000;
const maxRedirects = 3;
const mediaTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/**
 * Makes a fetcher that goes to public addresses only, so that a request cannot make the worker look into the network it
 * stands in. The address is checked when the connection is made, after the name was resolved, so a name that resolves
 * differently the second time gains nothing; every redirect is checked anew.
 * @param isAllowed which IP addresses it may connect to
 */
export function createImageFetcher(isAllowed: (address: string) => boolean = isPublicAddress): ImageFetcher {
  const lookup = guardedLookup(isAllowed);

  return async function fetchImage(url, maxBytes, signal) {
    // An agent for one image: it keeps no connection and no host.
    const agent = new Agent({ connect: { lookup, timeout: connectTimeoutMs }, allowH2: false });
    try {
      return await follow(url, maxBytes, agent, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof ImageError) throw error;
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      throw new ImageError(isLate ? 'it took too long' : 'its server could not be reached', { cause: error });
    } finally {
      await agent.destroy();
    }
  };

  async function follow(from: URL, maxBytes: number, agent: Agent, signal: AbortSignal): Promise<string> {
    let url = from;
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:')
        throw new ImageError('only http and https are fetched');
      // For a host that is an IP address already, nothing is looked up.
      const host = url.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) !== 0 && !isAllowed(host)) throw notPublic();
      const { statusCode, headers, body } = await request(url, { dispatcher: agent, signal });
      const { location } = headers;
      if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
        const next = URL.parse(location, url.href);
        if (!next) throw new ImageError('it redirects to an address that is none');
        url = next;
      } else if (statusCode === 200) {
        return await read(body, headers['content-type'], Number(headers['content-length'] ?? 0), maxBytes);
      } else {
        throw new ImageError(`its server answered with status ${statusCode}`);
      }
    }
    throw new ImageError('it redirects too often');
  }
}

async function read(
  body: AsyncIterable<Buffer>,
  contentType: string | string[] | undefined,
  contentLength: number,
  maxBytes: number,
): Promise<string> {
  const type = String(contentType ?? '')
    .split(';', 1)[0]
    ?.trim()
    .toLowerCase();
  if (type === undefined || !mediaTypes.has(type)) throw new ImageError('it is no JPEG, PNG, GIF or WebP');
  const chunks: Buffer[] = [];
  let bytes = contentLength;
  if (bytes > maxBytes) throw new ImageError('it is too large');
  bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ImageError('it is too large');
    chunks.push(chunk);
  }
  return `data:${type};base64,${Buffer.concat(chunks).toString('base64')}`;
}

/** Resolves a name like the system does, and refuses it when any of its addresses is not allowed. */
function guardedLookup(isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      if (!addresses.every(({ address }) => isAllowed(address))) return callback(notPublic(), '', 0);
      const [first] = addresses;
      if (options.all) return callback(null, addresses);
      return callback(null, first?.address ?? '', first?.family ?? 0);
    });
  };
}

function notPublic(): ImageError {
  return new ImageError('its address is not public');
}
