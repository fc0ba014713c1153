import type { Json, JsonObject } from '#shared/core/json.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest } from '#shared/formats/messages/request.ts';
import { writeHostedBlockText, isOwnHostedBlock } from '#shared/formats/messages/hosted/hosted-block.ts';
import { isOwnCitation } from '#shared/formats/messages/hosted/result-citations.ts';
import type { ModelTraits } from '../translation.ts';
import { removeMark } from './signature-marks.ts';

/**
 * Converts a request in the `messages` format for an upstream of the same format. Changes only the model's name, and content of earlier
 * answers that the upstream would refuse. Drops thinking that the router or another upstream has signed, and citations by the router.
 * Hosted calls that the router has run become text.
 */
export function messagesToMessagesRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  const { messages } = body as MessagesRequest;
  const hasForeign = (message: MessagesMessage): boolean => hasForeignBlocks(message, traits);
  const sentMessages = messages.some(hasForeign)
    ? messages.flatMap((message) => (hasForeign(message) ? removeForeignBlocks(message, traits) : [message]))
    : messages;
  return { ...body, model: traits.model, messages: sentMessages };
}

function hasForeignBlocks({ content }: MessagesMessage, { origin }: ModelTraits): boolean {
  return (
    typeof content !== 'string' && content.some((block) => removeMark(block, origin) !== block || hasOwnContent(block))
  );
}

function hasOwnContent(block: MessagesBlock): boolean {
  return isOwnHostedBlock(block) || findOwnCitations(block).length > 0;
}

function findOwnCitations(block: MessagesBlock): Json[] {
  const { citations } = block as JsonObject;
  return Array.isArray(citations) ? citations.filter(isOwnCitation) : [];
}

/** Removes foreign content from a message, and the whole message if nothing remains. */
function removeForeignBlocks(message: MessagesMessage, { origin }: ModelTraits): MessagesMessage[] {
  const content = (message.content as MessagesBlock[]).flatMap((block) => {
    const kept = removeMark(block, origin);
    return kept ? [replaceOwnContent(kept)] : [];
  });
  return content.length === 0 ? [] : [{ ...message, content }];
}

function replaceOwnContent(block: MessagesBlock): MessagesBlock {
  const text = isOwnHostedBlock(block) ? writeHostedBlockText(block) : undefined;
  if (text !== undefined) return { type: 'text', text };
  if (findOwnCitations(block).length === 0) return block;
  const { citations, ...rest } = block as JsonObject;
  const others = (citations as Json[]).filter((each) => !isOwnCitation(each));
  return { ...rest, ...(others.length > 0 && { citations: others }) } as MessagesBlock;
}
