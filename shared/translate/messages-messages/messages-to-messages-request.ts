import type { JsonObject } from '#shared/core/json.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest } from '#shared/formats/messages/request.ts';
import { hostedBlockText, isOwnHostedBlock } from '#shared/formats/messages/hosted/hosted-block.ts';
import type { Target } from '../translation.ts';
import { isSyntheticSignature } from '../vocabulary/thinking.ts';

/**
 * The upstream's request for a messages client's request: everything passes except the model's name, and what the router has
 * made in an earlier answer and a messages upstream refuses: thinking that it signed for an engine is left out, and hosted calls
 * that it has run become text.
 */
export function messagesToMessagesRequest(body: JsonObject, target: Target): JsonObject {
  const { messages } = body as MessagesRequest;
  const kept = messages.some(hasForeignBlocks) ? messages.flatMap(withoutForeignBlocks) : messages;
  return { ...body, model: target.model, messages: kept };
}

function hasForeignBlocks({ content }: MessagesMessage): boolean {
  return typeof content !== 'string' && content.some((block) => isForeignThinking(block) || isOwnHostedBlock(block));
}

/** Omits a message without any other content. */
function withoutForeignBlocks(message: MessagesMessage): MessagesMessage[] {
  if (!hasForeignBlocks(message)) return [message];
  const content = (message.content as MessagesBlock[]).filter((block) => !isForeignThinking(block)).map(withText);
  return content.length === 0 ? [] : [{ ...message, content }];
}

function withText(block: MessagesBlock): MessagesBlock {
  const text = isOwnHostedBlock(block) ? hostedBlockText(block) : undefined;
  return text === undefined ? block : { type: 'text', text };
}

function isForeignThinking(block: MessagesBlock): boolean {
  return block.type === 'thinking' && isSyntheticSignature(block.signature);
}
