import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import type { Translation, ModelTraits, Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { messagesUpstream } from '../upstreams/messages/messages-upstream.ts';
import { type Json, type JsonObject, isJsonObject } from '#shared/core/json.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest } from '#shared/formats/messages/request.ts';
import { writeHostedBlockText, isOwnHostedBlock } from '#shared/formats/messages/hosted/hosted-block.ts';
import { isOwnCitation } from '#shared/formats/messages/hosted/result-citations.ts';
import { removeBlockMark, addBlockMark, addBlockMarkInText } from '../vocabulary/origin-mark.ts';
import { RouterError } from '#shared/core/errors.ts';
import { readMessagesEventError } from '../upstreams/messages/upstream-error.ts';
import { readMessagesUsage, overlayUsage } from '#shared/formats/messages/usage.ts';
import { toFinishReason } from '../vocabulary/stop-reason.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';

/** Changes only the fields that identify the answer, and content that only one upstream can read. */
export const messagesToMessages: Translation = {
  client: messagesFormat,
  upstream: messagesUpstream,
  passesHeaders: true,
  translateRequest: messagesToMessagesRequest,
  translateReply: messagesToMessagesReply,
  createStream: (answerContext) => new MessagesToMessagesStream(answerContext),
};

/**
 * Converts a request in the `messages` format for an upstream of the same format. Changes only the model's name, and content of earlier
 * answers that the upstream would refuse. Drops thinking that the router or another upstream has signed, and citations by the router.
 * Hosted calls that the router has run become text.
 */
function messagesToMessagesRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  const { messages } = body as MessagesRequest;
  const hasForeign = (message: MessagesMessage): boolean => hasForeignBlocks(message, traits);
  const sentMessages = messages.some(hasForeign)
    ? messages.flatMap((message) => (hasForeign(message) ? removeForeignBlocks(message, traits) : [message]))
    : messages;
  return { ...body, model: traits.model, messages: sentMessages };
}

function hasForeignBlocks({ content }: MessagesMessage, { origin }: ModelTraits): boolean {
  return (
    typeof content !== 'string' &&
    content.some((block) => removeBlockMark(block, origin) !== block || hasOwnContent(block))
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
    const kept = removeBlockMark(block, origin);
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

/**
 * Converts an answer in the `messages` format for a client of the same format. Replaces only the id and the model, and adds the upstream's
 * mark to signed content.
 * @throws RouterError `upstream_failed` if the body is not an answer
 */
function messagesToMessagesReply(body: JsonObject, answerContext: AnswerContext): { body: JsonObject; ending: Ending } {
  const failure = readMessagesEventError(body);
  if (failure) throw failure;
  const { content, stop_reason: stopReason, usage } = body;
  if (!Array.isArray(content)) {
    throw new RouterError('upstream_failed', 'The upstream sent an answer without content.');
  }
  const hasToolCalls = content.some((block) => isJsonObject(block) && block['type'] === 'tool_use');
  return {
    body: {
      ...body,
      content:
        answerContext.origin === undefined
          ? content
          : content.map((block) => addBlockMark(block, answerContext.origin)),
      id: answerContext.id,
      model: answerContext.model,
    },
    ending: { usage: readMessagesUsage(usage), finishReason: toFinishReason(stopReason, hasToolCalls) },
  };
}

/**
 * Relays a stream in the `messages` format to a client of the same format. The data of every event is sent unchanged, with two exceptions:
 * `message_start` gets the router's id and model, and signed content gets a mark that names its upstream. Each event gets its `event:`
 * line, which clients need and some upstreams omit.
 */
class MessagesToMessagesStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  #hasStarted = false;
  #hasContent = false;
  #isComplete = false;
  #hasToolCalls = false;
  /** Whether the signature of the current block already has its mark. */
  #isMarked = false;
  #stopReason: Json | undefined;
  #usage: JsonObject = {};

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  translateEvent(data: string): string {
    const event = parseUpstreamEvent(data);
    const { type } = event;
    switch (type) {
      case 'message_start':
        return this.#begin(event);
      case 'content_block_start':
        this.#hasToolCalls ||= isJsonObject(event['content_block']) && event['content_block']['type'] === 'tool_use';
        this.#hasContent ||= !isEmptyText(event['content_block']);
        this.#isMarked = false;
        return this.#writeMarked(type, event['content_block'], data);
      case 'content_block_delta':
        this.#hasContent ||= !isEmptyText(event['delta']);
        return this.#writeMarked(type, event['delta'], data);
      case 'message_delta':
        this.#usage = overlayUsage(this.#usage, event['usage']);
        if (isJsonObject(event['delta'])) this.#stopReason = event['delta']['stop_reason'] ?? this.#stopReason;
        break;
      case 'message_stop':
        this.#isComplete = true;
        break;
      case 'error':
        throw readMessagesEventError(event);
      default:
        if (typeof type !== 'string') throw new RouterError('upstream_failed', 'The upstream sent an untyped event.');
    }
    return writeEvent(type, data);
  }

  translateEnd(): { text: string; ending: Ending } {
    if (!this.#hasStarted || (!this.#isComplete && this.#stopReason === undefined)) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const finishReason = toFinishReason(this.#stopReason, this.#hasToolCalls);
    const text = this.#isComplete ? '' : writeNamedEvent('message_stop', '{"type":"message_stop"}');
    return { text, ending: { usage: readMessagesUsage(this.#usage), finishReason } };
  }

  /** Writes an event with a block or delta that may be signed. If a signature comes in pieces, the mark precedes its first piece. */
  #writeMarked(type: string, part: Json | undefined, data: string): string {
    const marked = this.#isMarked ? data : addBlockMarkInText(data, part, this.#answerContext.origin);
    this.#isMarked ||= marked !== data;
    return writeEvent(type, marked);
  }

  #begin(event: JsonObject): string {
    const message = isJsonObject(event['message']) ? event['message'] : {};
    this.#hasStarted = true;
    this.#usage = overlayUsage(this.#usage, message['usage']);
    const changedMessage = { ...message, id: this.#answerContext.id, model: this.#answerContext.model };
    return writeNamedEvent('message_start', JSON.stringify({ ...event, message: changedMessage }));
  }
}

/** Writes an event. Joins data of several lines in one line, so that the data stays one event. */
function writeEvent(type: string, data: string): string {
  return writeNamedEvent(type, data.includes('\n') ? JSON.stringify(parseUpstreamEvent(data)) : data);
}

/** Whether a block or a delta is an empty text. Blocks of other types count as content even if they are empty. */
function isEmptyText(part: Json | undefined): boolean {
  return isJsonObject(part) && (part['type'] === 'text' || part['type'] === 'text_delta') && !part['text'];
}
