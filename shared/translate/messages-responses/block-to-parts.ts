import type { DocumentBlock, MessagesBlock } from '#shared/formats/messages/request.ts';
import type { ResponsesPart } from '#shared/formats/responses/request.ts';
import { writeReferenceText } from '../context/offered-tools.ts';
import { createUnsupportedMessagesError } from '../unsupported.ts';
import { checkWebAddress, toImageUrl, writeDocumentHeading } from '../vocabulary/media-block.ts';

/**
 * Translates a text, image or document block to content parts of an item.
 * @param param path of the block, for errors
 * @throws RouterError `unsupported_parameter` for a block that the Responses format does not have; `invalid_request` for a URL that is not
 * `http:`, `https:` or `data:`
 */
export function blockToParts(block: MessagesBlock, param: string): ResponsesPart[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'input_text', text: block.text }];
    case 'image':
      return [{ type: 'input_image', image_url: toImageUrl(block, param) }];
    case 'document':
      return toDocumentParts(block, param);
    case 'tool_reference':
      return [{ type: 'input_text', text: writeReferenceText(block) }];
    default:
      throw createUnsupportedMessagesError(`${param}.type`, `content of type '${block.type}' here`);
  }
}

/** Translates a document. A text document becomes text, after its title and context. */
function toDocumentParts(block: DocumentBlock, param: string): ResponsesPart[] {
  const { source, title } = block;
  const heading = writeDocumentHeading(block);
  switch (source.type) {
    case 'text':
      return [{ type: 'input_text', text: `${heading}${source.data}` }];
    case 'content': {
      if (typeof source.content === 'string') return [{ type: 'input_text', text: `${heading}${source.content}` }];
      const parts = source.content.flatMap((inner, index) => blockToParts(inner, `${param}.source.content.${index}`));
      return heading === '' ? parts : [{ type: 'input_text', text: heading.trimEnd() }, ...parts];
    }
    case 'base64': {
      const data = `data:${source.media_type};base64,${source.data}`;
      return [...toContextParts(block), { type: 'input_file', filename: title ?? 'document.pdf', file_data: data }];
    }
    case 'url':
      return [
        ...toContextParts(block),
        { type: 'input_file', file_url: checkWebAddress(source.url, `${param}.source.url`) },
      ];
    default:
      throw createUnsupportedMessagesError(
        `${param}.source.type`,
        `documents from a source of type '${source.type}'`,
        'document_block',
      );
  }
}

/** Returns a part with the context of a document that is sent as a file; an empty list if the document has no context. */
function toContextParts({ context }: DocumentBlock): ResponsesPart[] {
  return typeof context === 'string' && context !== '' ? [{ type: 'input_text', text: context }] : [];
}
