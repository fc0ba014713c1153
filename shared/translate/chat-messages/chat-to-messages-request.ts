import type { JsonObject } from '#shared/core/json.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import { chatHistoryToMessages } from './chat-history-to-messages.ts';
import { chatToolsToMessages } from './chat-tools-to-messages.ts';
import type { ModelTraits } from '../translation.ts';
import { ruledFields, withoutRuledFields } from '../field-rule.ts';
import { requestRules } from './field-rules.ts';
import { unsupportedInChat } from '../unsupported.ts';
import { generationFields, jsonInstruction, simplifySystem } from '../upstreams/messages/generation-fields.ts';
import { customAsFunctions } from '../vocabulary/custom-tools.ts';
import { thinkingForChat } from '../vocabulary/thinking.ts';

const fields = ruledFields(requestRules);

/** The response formats that can be translated. Engines have further response formats, such as grammars. */
const formats: ReadonlySet<string> = new Set(['text', 'json_object', 'json_schema']);

/**
 * Translates a chat client's request for a `messages` upstream. `field-rules.ts` lists the effect on each field.
 * @throws RouterError `unsupported_parameter` that names a field the upstream cannot serve
 */
export function chatToMessagesRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  const request = customAsFunctions(body as ChatRequest);
  refuseFields(request);
  const { system, messages } = chatHistoryToMessages(request.messages);
  if (request.response_format?.type === 'json_object') system.push(jsonInstruction);
  const tools = chatToolsToMessages(request);
  const generation = {
    maxTokens: request.max_completion_tokens ?? request.max_tokens,
    thinking: thinkingForChat(request),
    temperature: request.temperature,
    topP: request.top_p,
    topK: request.top_k,
    stop: request.stop,
    schema: readSchema(request),
    user: request['safety_identifier'] ?? request['user'],
  };
  return {
    ...furtherFields(request),
    model: traits.model,
    ...(system.length > 0 && { system: simplifySystem(system) }),
    messages,
    ...tools,
    ...generationFields(generation, tools, traits),
    ...(request.stream === true && { stream: true }),
  };
}

function refuseFields(request: ChatRequest): void {
  for (const [field, what] of fields.refused) {
    const value = request[field];
    const isSet = value !== undefined && value !== null && value !== false && value !== 0;
    if (isSet && !(Array.isArray(value) && value.length === 0)) throw unsupportedInChat(field, what);
  }
  const { modalities, response_format: format, n } = request;
  if ((n ?? 1) > 1) throw unsupportedInChat('n', 'more than one choice');
  if (format && !formats.has(format.type)) {
    throw unsupportedInChat('response_format.type', `a response format of type '${format.type}'`);
  }
  if (Array.isArray(modalities) && modalities.includes('audio')) throw unsupportedInChat('modalities', 'audio output');
}

/** Returns the fields without a rule, which are sent on unchanged. The upstream refuses those that it does not know. */
function furtherFields(request: ChatRequest): JsonObject {
  return withoutRuledFields(request, fields);
}

function readSchema({ response_format: format }: ChatRequest): JsonObject | undefined {
  if (format?.type !== 'json_schema') return undefined;
  const { schema } = (format['json_schema'] ?? {}) as { schema?: JsonObject | null };
  return schema ?? { type: 'object' };
}
