import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { PublicFetchError } from '#shared/public-fetch/public-fetch.ts';
import type { ImageFetcher } from './image-fetcher.ts';

/** Bytes of all images together that are fetched for one request, and milliseconds for all of them to come. */
const bounds = { bytes: 32 * 1024 * 1024, ms: 20_000 };

/** Fields that name a file by address. Only images are fetched: of the others, engines take what is sent along. */
const mediaFields = ['image_url', 'video_url', 'audio_url'] as const;

/**
 * Puts images in the place of their addresses, for every engine: one that fetched them itself would fetch for any client
 * whatever it can reach, its own network and (some do) its own files included. Engines go by a part's fields, some of them
 * whatever its type says, so the fields are what is looked at.
 * @param clientPath where the client named an address, if that is not where the request has it
 * @throws RouterError `invalid_request` that names the part
 */
export async function inlineImages(
  request: JsonObject,
  fetchImage: ImageFetcher,
  signal: AbortSignal,
  clientPath: (address: string) => string | undefined = () => undefined,
): Promise<JsonObject> {
  const { messages } = request;
  if (!Array.isArray(messages) || !messages.some(hasMedia)) return request;
  const bound = AbortSignal.any([signal, AbortSignal.timeout(bounds.ms)]);
  const settled: Json[] = [];
  let left = bounds.bytes;
  for (const [m, message] of messages.entries()) {
    if (!isJsonObject(message) || !Array.isArray(message.content)) {
      settled.push(message);
      continue;
    }
    const content: Json[] = [];
    for (const [p, part] of message.content.entries()) {
      const image = imageToFetch(part, `messages[${m}].content[${p}]`);
      if (!image) {
        content.push(part);
        continue;
      }
      const url = await fetchImage(image.address, left, bound).catch((error: unknown) => {
        signal.throwIfAborted();
        const why = bound.aborted
          ? `The images did not come within ${bounds.ms / 1000} seconds.`
          : error instanceof PublicFetchError && `The image was not fetched: ${error.message}.`;
        if (why === false) throw error;
        const path = clientPath(image.named);
        throw path === undefined ? refused(why, image.param) : refused(`${path}: ${why}`, path);
      });
      left -= url.length;
      content.push({ type: 'image_url', image_url: { url } });
    }
    settled.push({ ...message, content });
  }
  return { ...request, messages: settled };
}

function hasMedia(message: Json): boolean {
  return isJsonObject(message) && Array.isArray(message.content) && message.content.some(namesMedia);
}

function namesMedia(part: Json): part is JsonObject {
  return isJsonObject(part) && mediaFields.some((field) => part[field] !== undefined);
}

/** The image that a part names by address; undefined for a part that holds all it needs. */
function imageToFetch(part: Json, path: string): { address: URL; named: string; param: string } | undefined {
  if (!namesMedia(part)) return undefined;
  const [field, ...others] = mediaFields.filter((each) => part[each] !== undefined);
  if (field === undefined || others.length > 0 || part.type !== field) {
    throw refused(`${path} must have the one address that its type says.`, path);
  }
  const named = part[field];
  const param = `${path}.${field}.url`;
  const text = isJsonObject(named) ? named.url : named;
  if (typeof text !== 'string') throw refused(`${param} must be a string.`, param);
  // Parsing a long data URL would copy it several times.
  if (/^data:/i.test(text)) return undefined;
  const address = URL.parse(text);
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:') {
    throw refused(`${param} must be an http, https or data address.`, param);
  }
  if (field !== 'image_url') throw refused(`${param} must be a data address.`, param);
  return { address, named: text, param };
}

function refused(message: string, param: string): RouterError {
  return new RouterError('invalid_request', message, { param });
}
