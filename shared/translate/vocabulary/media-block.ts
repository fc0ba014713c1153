import { RouterError } from '#shared/core/errors.ts';
import type { DocumentBlock, ImageBlock } from '#shared/formats/messages/request.ts';
import { createUnsupportedMessagesError } from '../unsupported.ts';

/**
 * Returns the URL of an image block for formats whose images are URLs.
 * @param param path of the block, for errors
 * @throws RouterError `unsupported_parameter` for an image without data and URL; `invalid_request` for a URL that is not `http:`, `https:`
 * or `data:`
 */
export function toImageUrl({ source }: ImageBlock, param: string): string {
  switch (source.type) {
    case 'base64':
      return `data:${source.media_type};base64,${source.data}`;
    case 'url':
      return checkWebAddress(source.url, `${param}.source.url`);
    default:
      throw createUnsupportedMessagesError(
        `${param}.source.type`,
        `images from a source of type '${source.type}'`,
        'image_block',
      );
  }
}

/** @throws RouterError `invalid_request` for a URL that is not `http:`, `https:` or `data:` */
export function checkWebAddress(url: string, param: string): string {
  if (/^(?:https?|data):/i.test(url)) return url;
  throw new RouterError('invalid_request', `${param} must be an http or https address`, { param });
}

/** Writes the text before a document in other formats: its title and its context; '' if the document has neither. */
export function writeDocumentHeading({ title, context }: DocumentBlock): string {
  return [title, context].map((text) => (typeof text === 'string' && text !== '' ? `${text}\n\n` : '')).join('');
}
