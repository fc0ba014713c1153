import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { computeAppliedEdits } from '../context/edit-context.ts';
import { MessagesAnswerWriter } from '../messages/messages-answer-writer.ts';
import type { Translation } from '../translation.ts';
import { ChatReader } from '../upstreams/chat/chat-reader.ts';
import { chatUpstream } from '../upstreams/chat/chat-upstream.ts';
import { readRecalledThinking, readRequestedThinking } from '../vocabulary/shown-thinking.ts';
import { messagesToChatReply } from './messages-to-chat-reply.ts';
import { messagesToChatRequest } from './messages-to-chat-request.ts';

export const messagesToChat: Translation = {
  client: messagesFormat,
  upstream: chatUpstream,
  passesHeaders: false,
  recallFields: (body) => ({ ...computeAppliedEdits(body), ...readRequestedThinking(body) }),
  translateRequest: messagesToChatRequest,
  translateReply: messagesToChatReply,
  createStream: (answerContext) =>
    new ChatReader(
      answerContext,
      new MessagesAnswerWriter(answerContext, readRecalledThinking(answerContext.recalled)),
    ),
  findUrlPath: findImagePath,
};

/**
 * Returns the JSON path of the first image with this URL in a `messages` request, such as `messages.0.content.1.source.url`; undefined if
 * there is no such image.
 */
function findImagePath({ messages }: JsonObject, url: string): string | undefined {
  return findPathIn(messages, 'messages', url);
}

function findPathIn(items: Json | undefined, path: string, url: string): string | undefined {
  for (const [index, item] of (Array.isArray(items) ? items : []).entries()) {
    if (!isJsonObject(item)) continue;
    const { type, source, content } = item;
    const here = `${path}.${index}`;
    if (type === 'image' && isJsonObject(source) && source['url'] === url) return `${here}.source.url`;
    const inside = findPathIn(content, `${here}.content`, url);
    if (inside !== undefined) return inside;
  }
  return undefined;
}
