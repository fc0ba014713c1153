import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { PublicFetchError } from '#shared/core/public-fetch.ts';
import type { ImageFetcher } from './image-fetcher.ts';

/** Bytes of all images together that are fetched for one request. */
const maxBytes = 32 * 1024 * 1024;

/** Parts that name a file by address. Only images are fetched: of the others, engines take what is sent along. */
const mediaParts = ['image_url', 'video_url', 'audio_url'] as const;

/**
 * Puts images in the place of their addresses, for every engine: one that fetched them itself would fetch for any client
 * whatever it can reach, its own network and (some do) its own files included.
 * @throws RouterError `invalid_request` that names the part
 */
export async function settleImages(
  request: JsonObject,
  fetchImage: ImageFetcher,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { messages } = request;
  if (!Array.isArray(messages) || !messages.some(hasMedia)) return request;
  const settled: Json[] = [];
  let left = maxBytes;
  for (const [m, message] of messages.entries()) {
    if (!isJsonObject(message) || !Array.isArray(message.content)) {
      settled.push(message);
      continue;
    }
    const content: Json[] = [];
    for (const [p, part] of message.content.entries()) {
      const url = mediaUrl(part, `messages[${m}].content[${p}]`);
      if (url === undefined || url.address.protocol === 'data:') {
        content.push(part);
        continue;
      }
      const image = await fetchImage(url.address, left, signal).catch((error: unknown) => {
        throw error instanceof PublicFetchError
          ? refused(`The image was not fetched: ${error.message}.`, url.param)
          : error;
      });
      left -= image.length;
      content.push({ type: 'image_url', image_url: { url: image } });
    }
    settled.push({ ...message, content });
  }
  return { ...request, messages: settled };
}

function hasMedia(message: Json): boolean {
  return isJsonObject(message) && Array.isArray(message.content) && message.content.some((part) => kindOf(part));
}

function kindOf(part: Json): (typeof mediaParts)[number] | undefined {
  return isJsonObject(part) ? mediaParts.find((kind) => part.type === kind) : undefined;
}

/** The address that a part names, checked; undefined for parts that name none. */
function mediaUrl(part: Json, path: string): { address: URL; param: string } | undefined {
  const kind = kindOf(part);
  if (kind === undefined || !isJsonObject(part)) return undefined;
  const named = part[kind];
  const param = `${path}.${kind}.url`;
  const text = isJsonObject(named) ? named.url : named;
  if (typeof text !== 'string') throw refused(`${param} must be a string.`, param);
  // Parsing a long data URL would copy it several times.
  if (/^data:/i.test(text)) return { address: new URL('data:,'), param };
  const address = URL.parse(text);
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:') {
    throw refused(`${param} must be an http, https or data address.`, param);
  }
  if (kind !== 'image_url') throw refused(`${param} must be a data address.`, param);
  return { address, param };
}

function refused(message: string, param: string): RouterError {
  return new RouterError('invalid_request', message, { param });
}
