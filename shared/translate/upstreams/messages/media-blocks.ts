import type { JsonObject } from '#shared/core/json.ts';
import type { DocumentBlock, MessagesSource } from '#shared/formats/messages/request.ts';
import { createUnsupportedChatError } from '../../unsupported.ts';

const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
const dataUrl = /^data:([\w.+/-]+)(?:;[\w=.-]+)*;base64,/i;

/**
 * Returns the source of an image block for an `http:`, `https:` or `data:` URL.
 * @param param JSON path of the URL, for errors
 * @throws RouterError `unsupported_parameter` for another type of image, or another kind of URL
 */
export function toImageSource(url: string, param: string): MessagesSource {
  if (isWebAddress(url)) return { type: 'url', url };
  const match = dataUrl.exec(url);
  const mediaType = match?.[1]?.toLowerCase().replace('image/jpg', 'image/jpeg');
  if (!match || mediaType === undefined || !imageTypes.has(mediaType)) {
    throw createUnsupportedChatError(param, 'an image other than JPEG, PNG, GIF or WebP, by URL or as base64');
  }
  return { type: 'base64', media_type: mediaType, data: url.slice(match[0].length) };
}

/**
 * Returns the block for a file whose data is a data URL.
 * @param file has `file_data`, and may have `filename`
 * @param param path of the file, for errors
 * @throws RouterError `unsupported_parameter` for a file of another type, or without data
 */
export function toDocumentBlock({ file_data: data, filename }: JsonObject, param: string): DocumentBlock {
  const match = typeof data === 'string' ? dataUrl.exec(data) : null;
  const mediaType = match?.[1]?.toLowerCase();
  const title = typeof filename === 'string' ? { title: filename } : {};
  if (typeof data === 'string' && match && mediaType === 'application/pdf') {
    const source = { type: 'base64' as const, media_type: mediaType, data: data.slice(match[0].length) };
    return { type: 'document', source, ...title };
  }
  if (typeof data === 'string' && match && mediaType === 'text/plain') {
    const text = Buffer.from(data.slice(match[0].length), 'base64').toString('utf8');
    return { type: 'document', source: { type: 'text', media_type: mediaType, data: text }, ...title };
  }
  throw createUnsupportedChatError(param, 'a file other than a PDF or plain text as base64');
}

export function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url);
}
