import { PublicFetchError } from '#shared/public-fetch/guarded-agent.ts';
import { createPublicFetch, readBounded } from '#shared/public-fetch/public-fetch.ts';

/** Fetches an image. Resolves to a data URL of at most `maxBytes` image bytes. Rejects with a PublicFetchError. */
export type ImageFetcher = (url: URL, maxBytes: number, signal: AbortSignal) => Promise<string>;

const timeoutMs = 10_000;
const mediaTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/**
 * Creates a fetcher that connects to public addresses only.
 * @param isAllowed decides to which IP addresses the fetcher may connect; default: all public addresses
 */
export function createImageFetcher(isAllowed?: (address: string) => boolean): ImageFetcher {
  const publicFetch = createPublicFetch({ timeoutMs, ...(isAllowed && { isAllowed }) });
  return (url, maxBytes, signal) =>
    publicFetch(
      url,
      async (answer) => {
        if (answer.status !== 200) throw new PublicFetchError(`its server answered with status ${answer.status}`);
        const type = readMediaType(answer.headers['content-type']);
        if (!mediaTypes.has(type)) throw new PublicFetchError('it is not a JPEG, PNG, GIF or WebP');
        const image = await readBounded(answer, maxBytes);
        return `data:${type};base64,${image.toString('base64')}`;
      },
      signal,
    );
}

function readMediaType(contentType = ''): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
