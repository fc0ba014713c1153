import type { JsonObject } from '#shared/core/json.ts';
import type { MessagesRequest } from '#shared/formats/messages/request.ts';
import { expandSummary } from '../context/expand-summary.ts';
import { editContext } from '../context/edit-context.ts';
import { messagesHistoryToChat } from './messages-history-to-chat.ts';
import { messagesToolsToChat } from './messages-tools-to-chat.ts';
import type { ModelTraits } from '../translation.ts';
import { copyFurtherFields, refuseFeatures, messagesFields } from '../request-fields.ts';
import { createUnsupportedMessagesError } from '../unsupported.ts';
import { computePseudonym } from '../vocabulary/pseudonym.ts';
import { thinkingToEffort } from '../vocabulary/thinking.ts';

/**
 * Translates a `messages` client's request for a chat upstream. `docs/translation.md` lists the effect on each field.
 * @throws RouterError `unsupported_parameter` that names a field the upstream cannot serve
 */
export function messagesToChatRequest(body: JsonObject, traits: ModelTraits): JsonObject {
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
