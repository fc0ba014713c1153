import type { MessagesBlock, MessagesMessage, TextBlock } from '#shared/formats/messages/request.ts';
import { createUnsupportedChatError } from '../../unsupported.ts';
import type { JsonObject } from '#shared/core/json.ts';

/** The history of another format's request, as the fields of a `messages` request. */
export interface TranslatedHistory {
  system: TextBlock[];
  messages: MessagesMessage[];
}

/** Returns the text of content that is one plain text block; any other content unchanged. */
export function simplifyContent<Block extends MessagesBlock>(blocks: Block[]): string | Block[] {
  const [first] = blocks;
  if (first === undefined) return '';
  return blocks.length === 1 && first.type === 'text' && Object.keys(first).length === 2 ? first.text : blocks;
}

/**
 * @param param path of a system message's content, for errors
 * @throws RouterError `unsupported_parameter` for a block without text
 */
export function assertTextBlock(block: MessagesBlock, param: string): TextBlock {
  if (block.type === 'text') return block;
  throw createUnsupportedChatError(param, 'anything but text in a system message');
}

/**
 * Creates a cache mark of the `messages` format. Any lifetime that the client sets becomes one hour. Without one, the upstream keeps marked
 * content for five minutes after each use.
 */
export function createCacheMark(ttl: unknown): JsonObject {
  return { type: 'ephemeral', ...(typeof ttl === 'string' && { ttl: '1h' }) };
}
