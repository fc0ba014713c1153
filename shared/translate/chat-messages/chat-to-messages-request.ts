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

/** Tokens of output when the client names no limit, which the messages format must have. */
const defaultMaxTokens = 8192;

const fields = ruledFields(requestRules);

/**
 * The messages upstream's request for a chat client's. What becomes of each field is listed in `field-rules.ts`.
 * @throws RouterError `unsupported_parameter` that names what cannot be honoured
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

/** Asks for what the chat format's `json_object` promises; the messages format only has formats with a schema. */
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

/** Fields that no rule names: the upstream decides, and refuses what it does not know by name. */
function furtherFields(request: ChatRequest): JsonObject {
  return Object.fromEntries(Object.entries(request).filter(([field]) => !fields.known.has(field)));
}

/**
 * Thinking, sampling, stop, format, user. The messages format takes no temperature while it thinks, and does not think
 * while a tool is forced.
 */
function sampling(request: ChatRequest, { tool_choice: choice }: JsonObject): JsonObject {
  const { temperature, top_p: topP, top_k: topK, stop } = request;
  const forced = choice !== undefined && ['any', 'tool'].includes((choice as { type: string }).type);
  const wish = thinkingForChat(request);
  const thinking = wish && forced ? { thinking: { type: 'disabled' } } : wish;
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
