import type { JsonObject } from '#shared/core/json.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest } from '#shared/formats/messages/request.ts';
import type { Target } from '../translation.ts';
import { isSyntheticSignature } from '../vocabulary/thinking.ts';

/**
 * The upstream's request for a messages client's request: everything passes except the model's name, and thinking that the
 * router signed for an engine, because a messages upstream refuses its signature.
 */
export function messagesToMessagesRequest(body: JsonObject, target: Target): JsonObject {
  const { messages } = body as MessagesRequest;
  const kept = messages.some(hasForeignThinking) ? messages.flatMap(withoutForeignThinking) : messages;
  return { ...body, model: target.model, messages: kept };
}

function hasForeignThinking({ content }: MessagesMessage): boolean {
  return typeof content !== 'string' && content.some(isForeignThinking);
}

/** Omits a message without any other content. */
function withoutForeignThinking(message: MessagesMessage): MessagesMessage[] {
  if (!hasForeignThinking(message)) return [message];
  const content = (message.content as MessagesBlock[]).filter((block) => !isForeignThinking(block));
  return content.length === 0 ? [] : [{ ...message, content }];
}

function isForeignThinking(block: MessagesBlock): boolean {
  return block.type === 'thinking' && isSyntheticSignature(block.signature);
}
