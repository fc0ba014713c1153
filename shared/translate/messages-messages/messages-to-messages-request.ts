import type { Json, JsonObject } from '#shared/core/json.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest } from '#shared/formats/messages/request.ts';
import { hostedBlockText, isOwnHostedBlock } from '#shared/formats/messages/hosted/hosted-block.ts';
import { isOwnCitation } from '#shared/formats/messages/hosted/result-citations.ts';
import type { Target } from '../translation.ts';
import { isSyntheticSignature } from '../vocabulary/thinking.ts';

/**
 * The upstream's request for a messages client's request: everything passes except the model's name, and what the router has
 * made in an earlier answer and a messages upstream refuses: thinking that it signed for an engine is left out, and hosted calls
 * that it has run become text, and citations of what they have found are left out.
 */
export function messagesToMessagesRequest(body: JsonObject, target: Target): JsonObject {
  const { messages } = body as MessagesRequest;
  const kept = messages.some(hasForeignBlocks) ? messages.flatMap(withoutForeignBlocks) : messages;
  return { ...body, model: target.model, messages: kept };
}

function hasForeignBlocks({ content }: MessagesMessage): boolean {
  return typeof content !== 'string' && content.some((block) => isForeignThinking(block) || isOwn(block));
}

function isOwn(block: MessagesBlock): boolean {
  return isOwnHostedBlock(block) || ownCitationsIn(block).length > 0;
}

/** The citations of a text that the router has made. */
function ownCitationsIn(block: MessagesBlock): Json[] {
  const { citations } = block as JsonObject;
  return Array.isArray(citations) ? citations.filter(isOwnCitation) : [];
}

/** Omits a message without any other content. */
function withoutForeignBlocks(message: MessagesMessage): MessagesMessage[] {
  if (!hasForeignBlocks(message)) return [message];
  const content = (message.content as MessagesBlock[]).filter((block) => !isForeignThinking(block)).map(withText);
  return content.length === 0 ? [] : [{ ...message, content }];
}

function withText(block: MessagesBlock): MessagesBlock {
  const text = isOwnHostedBlock(block) ? hostedBlockText(block) : undefined;
  if (text !== undefined) return { type: 'text', text };
  if (ownCitationsIn(block).length === 0) return block;
  const { citations, ...rest } = block as JsonObject;
  const others = (citations as Json[]).filter((each) => !isOwnCitation(each));
  return { ...rest, ...(others.length > 0 && { citations: others }) } as MessagesBlock;
}

function isForeignThinking(block: MessagesBlock): boolean {
  if (block.type === 'redacted_thinking') return isSyntheticSignature(block.data);
  return block.type === 'thinking' && isSyntheticSignature(block.signature);
}
