import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { PublicFetchError } from '#shared/public-fetch/guarded-agent.ts';
import type { ImageFetcher } from './image-fetcher.ts';

/** Maximum size of all images of a request together, in bytes of data URLs. */
const maxBytes = 32 * 1024 * 1024;

/** Time limit for fetching all images of a request, in milliseconds. */
const timeoutMs = 20_000;

const dataUrlStart = /^data:/i;

/** Fields whose value is a file or its URL. Only images are fetched. Other files must be data URLs. */
const mediaFields = ['image_url', 'video_url', 'audio_url'] as const;

/**
 * Replaces the URLs of images by the images, as data URLs. An engine must not fetch an image itself, because it would fetch any address
 * that it can reach for any client: addresses in its own network and, with some engines, its own files. Some engines read the fields of a
 * part regardless of the part's type, so the fields decide here, too.
 * @param findClientPath returns the JSON path of a URL in the client's request, if it differs from the path in this request
 * @throws RouterError `invalid_request` that names the part whose image is refused or cannot be fetched
 */
export async function inlineImages(
  request: JsonObject,
  fetchImage: ImageFetcher,
  signal: AbortSignal,
  findClientPath: (url: string) => string | undefined = () => undefined,
): Promise<JsonObject> {
  const { messages } = request;
  if (!Array.isArray(messages) || !messages.some(hasMedia)) return request;
  const abortOrTimeout = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const inlined: Json[] = [];
  let bytesLeft = maxBytes;
  for (const [messageIndex, message] of messages.entries()) {
    if (!isJsonObject(message) || !Array.isArray(message.content)) {
      inlined.push(message);
      continue;
    }
    const content: Json[] = [];
    for (const [partIndex, part] of message.content.entries()) {
      const image = findImageToFetch(part, `messages[${messageIndex}].content[${partIndex}]`);
      if (!image) {
        content.push(part);
        continue;
      }
      const url = await fetchImage(image.address, bytesLeft, abortOrTimeout).catch((error: unknown) => {
        signal.throwIfAborted();
        const message = abortOrTimeout.aborted
          ? `The images did not arrive within ${timeoutMs / 1000} seconds.`
          : error instanceof PublicFetchError && `The image was not fetched: ${error.message}.`;
        if (message === false) throw error;
        const path = findClientPath(image.addressText);
        throw path === undefined ? createRefusal(message, image.param) : createRefusal(`${path}: ${message}`, path);
      });
      bytesLeft -= url.length;
      content.push({ type: 'image_url', image_url: { url } });
    }
    inlined.push({ ...message, content });
  }
  return { ...request, messages: inlined };
}

/** Whether a part of the request may name an image by a URL other than a data URL. Such an image must be replaced or refused. */
export function mayNameImages({ messages }: JsonObject): boolean {
  if (!Array.isArray(messages)) return false;
  return messages.some(
    (message) =>
      isJsonObject(message) &&
      Array.isArray(message.content) &&
      message.content.some((part) => namesMedia(part) && !isInlined(part)),
  );
}

function isInlined(part: JsonObject): boolean {
  const [field, ...others] = mediaFields.filter((each) => part[each] !== undefined);
  if (field === undefined || others.length > 0 || part.type !== field) return false;
  const media = part[field];
  const text = isJsonObject(media) ? media.url : media;
  return typeof text === 'string' && dataUrlStart.test(text);
}

function hasMedia(message: Json): boolean {
  return isJsonObject(message) && Array.isArray(message.content) && message.content.some(namesMedia);
}

function namesMedia(part: Json): part is JsonObject {
  return isJsonObject(part) && mediaFields.some((field) => part[field] !== undefined);
}

/** Returns the image that a part names by its URL; undefined for a part without a URL to fetch. */
function findImageToFetch(part: Json, path: string): { address: URL; addressText: string; param: string } | undefined {
  if (!namesMedia(part)) return undefined;
  const [field, ...others] = mediaFields.filter((each) => part[each] !== undefined);
  if (field === undefined || others.length > 0 || part.type !== field) {
    throw createRefusal(`${path} must have exactly one address, in the field of its type.`, path);
  }
  const media = part[field];
  const param = `${path}.${field}.url`;
  const text = isJsonObject(media) ? media.url : media;
  if (typeof text !== 'string') throw createRefusal(`${param} must be a string.`, param);
  // A data URL is not parsed, because parsing would copy a long URL several times.
  if (dataUrlStart.test(text)) return undefined;
  const address = URL.parse(text);
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:') {
    throw createRefusal(`${param} must be an http, https or data URL.`, param);
  }
  if (field !== 'image_url') throw createRefusal(`${param} must be a data URL.`, param);
  return { address, addressText: text, param };
}

function createRefusal(message: string, param: string): RouterError {
  return new RouterError('invalid_request', message, { param });
}
