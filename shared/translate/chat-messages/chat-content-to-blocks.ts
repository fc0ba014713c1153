import { isJsonObject } from '#shared/core/json.ts';
import type { ChatContent, ChatPart } from '#shared/formats/chat/request.ts';
import type { MessagesBlock } from '#shared/formats/messages/request.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { createCacheMark } from '../upstreams/messages/translated-history.ts';
import { toDocumentBlock, toImageSource } from '../upstreams/messages/media-blocks.ts';

/**
 * Translates a chat message's content to blocks. Omits empty texts, because the `messages` format refuses them.
 * @param param path of the content, for errors
 * @throws RouterError `unsupported_parameter` for a content part that the `messages` format does not have
 */
export function chatContentToBlocks(content: ChatContent | null | undefined, param: string): MessagesBlock[] {
  if (content === null || content === undefined || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part, index) => {
    const block = partToBlock(part, `${param}[${index}]`);
    if (block.type === 'text' && block.text === '') return [];
    const { cache_control: cacheControl, prompt_cache_breakpoint: mark } = part;
    const cached = cacheControl ?? (isJsonObject(mark) ? createCacheMark(mark['ttl']) : undefined);
    return [cached === undefined ? block : { ...block, cache_control: cached }];
  });
}

/** Appends an assistant's refusal as a text block. In the chat format, the refusal is a field beside the content. */
export function appendRefusal(blocks: MessagesBlock[], refusal: unknown): MessagesBlock[] {
  return typeof refusal === 'string' && refusal !== '' ? [...blocks, { type: 'text', text: refusal }] : blocks;
}

function partToBlock(part: ChatPart, param: string): MessagesBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'text', text: part.refusal };
    case 'image_url':
      return { type: 'image', source: toImageSource(part.image_url.url, `${param}.image_url.url`) };
    case 'file':
      return toDocumentBlock(part.file, `${param}.file`);
    default:
      throw createUnsupportedChatError(`${param}.type`, `content of type '${part.type}'`);
  }
}
