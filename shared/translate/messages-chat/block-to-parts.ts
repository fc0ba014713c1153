import type { ChatPart } from '#shared/formats/chat/request.ts';
import type { DocumentBlock, MessagesBlock } from '#shared/formats/messages/request.ts';
import { writeReferenceText } from '../context/offered-tools.ts';
import type { ModelTraits } from '../translation.ts';
import { createUnsupportedMessagesError } from '../unsupported.ts';
import { toImageUrl, writeDocumentHeading } from '../vocabulary/media-block.ts';

/**
 * Translates a text, image or document block to content parts of a chat message.
 * @param param path of the block, for errors
 * @throws RouterError `unsupported_parameter` for a block that the chat format does not have; `invalid_request` for an image whose URL is
 * not `http:`, `https:` or `data:`
 */
export function blockToParts(block: MessagesBlock, param: string, traits: ModelTraits): ChatPart[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'image':
      return [{ type: 'image_url', image_url: { url: toImageUrl(block, param) } }];
    case 'document':
      return toDocumentParts(block, param, traits);
    case 'tool_reference':
      return [{ type: 'text', text: writeReferenceText(block) }];
    default:
      throw createUnsupportedMessagesError(`${param}.type`, `content of type '${block.type}' here`);
  }
}

/** Translates a document. A text document becomes text, after its title and context. */
function toDocumentParts(block: DocumentBlock, param: string, traits: ModelTraits): ChatPart[] {
  const { source, title } = block;
  const heading = writeDocumentHeading(block);
  switch (source.type) {
    case 'text':
      return [{ type: 'text', text: `${heading}${source.data}` }];
    case 'content': {
      if (typeof source.content === 'string') return [{ type: 'text', text: `${heading}${source.content}` }];
      const parts = source.content.flatMap((inner, index) =>
        blockToParts(inner, `${param}.source.content.${index}`, traits),
      );
      return heading === '' ? parts : [{ type: 'text', text: heading.trimEnd() }, ...parts];
    }
    case 'base64':
      if (traits.takesFiles === true && source.media_type === 'application/pdf') {
        const filename = title ?? 'document.pdf';
        const file = { filename, file_data: `data:application/pdf;base64,${source.data}` };
        return [...toContextParts(block), { type: 'file', file }];
      }
      throw createUnsupportedMessagesError(
        `${param}.source`,
        `documents of type '${source.media_type}'`,
        'document_block',
      );
    default:
      throw createUnsupportedMessagesError(
        `${param}.source.type`,
        `documents from a source of type '${source.type}'`,
        'document_block',
      );
  }
}

/**
 * Returns a part with the context of a document that is sent as a file; an empty list if the document has no context. The title of the
 * document becomes the name of the file.
 */
function toContextParts({ context }: DocumentBlock): ChatPart[] {
  return typeof context === 'string' && context !== '' ? [{ type: 'text', text: context }] : [];
}
