import type { JsonObject } from '#shared/core/json.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import type { TextBlock } from '#shared/formats/messages/request.ts';
import { chatHistoryToMessages } from './chat-history-to-messages.ts';
import { chatToolsToMessages } from './chat-tools-to-messages.ts';
import type { Target } from '../translation.ts';
import { ruledFields } from '../field-rule.ts';
import { requestRules } from './field-rules.ts';
import { unsupportedInChat } from '../unsupported.ts';
import { pseudonym } from '../vocabulary/pseudonym.ts';
import { thinkingForChat } from '../vocabulary/thinking.ts';

/** Limit of output tokens if the client sets none: the messages format requires one. */
const defaultMaxTokens = 8192;

const fields = ruledFields(requestRules);

/**
 * Translates a chat client's request for a messages upstream. `field-rules.ts` lists the effect on each field.
 * @throws RouterError `unsupported_parameter` that names a field the upstream cannot serve
 */
export function chatToMessagesRequest(body: JsonObject, target: Target): JsonObject {
  const request = body as ChatRequest;
  refuse(request);
  const { system, messages } = chatHistoryToMessages(request.messages);
  if (request.response_format?.type === 'json_object') system.push(jsonInstruction);
  const tools = chatToolsToMessages(request);
  return {
    ...furtherFields(request),
    model: target.model,
    max_tokens:
      request.max_completion_tokens ?? request.max_tokens ?? Math.min(target.maxOutput ?? Infinity, defaultMaxTokens),
    ...(system.length > 0 && { system: simplest(system) }),
    messages,
    ...tools,
    ...sampling(request, tools),
    ...(request.stream === true && { stream: true }),
  };
}

/** Replaces the chat format's `json_object`: the messages format has only formats with a schema. */
const jsonInstruction: TextBlock = {
  type: 'text',
  text: 'Answer with one valid JSON object and nothing else: no explanation, no code fence.',
};

function refuse(request: ChatRequest): void {
  for (const [field, what] of fields.refused) {
    const value = request[field];
    const asked = value !== undefined && value !== null && value !== false && value !== 0;
    if (asked && !(Array.isArray(value) && value.length === 0)) throw unsupportedInChat(field, what);
  }
  const { modalities } = request;
  if (Array.isArray(modalities) && modalities.includes('audio')) throw unsupportedInChat('modalities', 'audio output');
}

/** Fields without a rule: the upstream refuses those that it does not know. */
function furtherFields(request: ChatRequest): JsonObject {
  return Object.fromEntries(Object.entries(request).filter(([field]) => !fields.known.has(field)));
}

/**
 * Thinking, sampling, stop sequences, format and user. The messages format allows no sampling parameters with thinking, and
 * no thinking with a forced tool.
 */
function sampling(request: ChatRequest, { tool_choice: choice }: JsonObject): JsonObject {
  const { temperature, top_p: topP, top_k: topK, stop } = request;
  const forced = choice !== undefined && ['any', 'tool'].includes((choice as { type: string }).type);
  const requested = thinkingForChat(request);
  const thinking = requested && forced ? { thinking: { type: 'disabled' } } : requested;
  const thinks = thinking !== undefined && thinking.thinking.type !== 'disabled';
  const outputConfig = {
    ...(thinks && thinking.effort !== undefined && { effort: thinking.effort }),
    ...jsonFormat(request),
  };
  const user = request['safety_identifier'] ?? request['user'];
  return {
    ...(thinking && { thinking: thinking.thinking }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...(typeof temperature === 'number' && !thinks && { temperature: Math.min(1, temperature) }),
    ...(typeof topP === 'number' && !thinks && { top_p: topP }),
    ...(typeof topK === 'number' && topK >= 0 && !thinks && { top_k: topK }),
    ...(stop !== undefined && stop !== null && { stop_sequences: typeof stop === 'string' ? [stop] : stop }),
    ...(typeof user === 'string' && user !== '' && { metadata: { user_id: pseudonym(user) } }),
  };
}

function jsonFormat({ response_format: format }: ChatRequest): JsonObject {
  if (format?.type !== 'json_schema') return {};
  const { schema } = (format['json_schema'] ?? {}) as JsonObject;
  return { format: { type: 'json_schema', schema: schema ?? { type: 'object' } } };
}

function simplest(system: TextBlock[]): string | TextBlock[] {
  const [first] = system;
  return first && system.length === 1 && Object.keys(first).length === 2 ? first.text : system;
}
