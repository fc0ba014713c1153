import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { computeAppliedEdits, editContext } from '../context/edit-context.ts';
import { MessagesAnswerWriter } from '../messages/messages-answer-writer.ts';
import type { Translation, ModelTraits } from '../translation.ts';
import { ChatReader } from '../upstreams/chat/chat-reader.ts';
import { chatUpstream } from '../upstreams/chat/chat-upstream.ts';
import { readRecalledThinking, readRequestedThinking } from '../vocabulary/shown-thinking.ts';
import { messagesToChatReply } from './messages-to-chat-reply.ts';
import type { MessagesRequest } from '#shared/formats/messages/request.ts';
import { expandSummary } from '../context/expand-summary.ts';
import { messagesHistoryToChat } from './messages-history-to-chat.ts';
import { messagesToolsToChat } from './messages-tools-to-chat.ts';
import { copyFurtherFields, refuseFeatures, messagesFields, computePseudonym } from '../request-fields.ts';
import { createUnsupportedMessagesError } from '../unsupported.ts';
import { thinkingToEffort } from '../vocabulary/thinking.ts';

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

/**
 * Translates a `messages` client's request for a chat upstream. `docs/translation.md` lists the effect on each field.
 * @throws RouterError `unsupported_parameter` that names a field the upstream cannot serve
 */
function messagesToChatRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  const request = expandSummary(body as MessagesRequest);
  refuseFields(request);
  const { messages } = editContext(request);
  const { system, max_tokens: maxTokens, stop_sequences: stop } = request;
  const effort = readEffort(request, traits);
  const user = request.metadata?.user_id;
  return {
    ...copyFurtherFields(request, messagesFields),
    model: traits.model,
    messages: messagesHistoryToChat(system, messages, traits),
    // Every engine reads this field. A token count request has no limit.
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...messagesToolsToChat(request),
    ...copyField(request, 'temperature'),
    ...copyField(request, 'top_p'),
    ...copyField(request, 'top_k'),
    ...(stop !== undefined && stop !== null && stop.length > 0 && { stop }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...toResponseFormat(request),
    ...(typeof user === 'string' && user !== '' && { user: computePseudonym(user) }),
    ...(request.stream === true && { stream: true, stream_options: { include_usage: true } }),
  };
}

function refuseFields(request: MessagesRequest): void {
  // Engines generate at least one token.
  if (request.max_tokens === 0)
    throw createUnsupportedMessagesError('max_tokens', 'a limit of 0, which only warms a cache');
  refuseFeatures(request, messagesFields.refused, createUnsupportedMessagesError);
}

/**
 * Returns the thinking effort. If the client asks for no thinking, an engine that can turn thinking off gets `none`, because such a client
 * reads the first text as the answer.
 */
function readEffort({ thinking, output_config: config }: MessagesRequest, traits: ModelTraits): string | undefined {
  const effort = thinkingToEffort(thinking, config?.effort);
  return effort ?? (traits.switchesThinking === true ? 'none' : (config?.effort ?? undefined));
}

function copyField(request: MessagesRequest, field: 'temperature' | 'top_p' | 'top_k'): JsonObject {
  const value = request[field];
  return value === undefined || value === null ? {} : { [field]: value };
}

function toResponseFormat({ output_config: config, output_format: olderFormat }: MessagesRequest): JsonObject {
  const format = config?.format ?? olderFormat;
  if (format?.['type'] !== 'json_schema') return {};
  const schema = format['schema'] ?? { type: 'object' };
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } } };
}
