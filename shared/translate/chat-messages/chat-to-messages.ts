import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { ChatAnswerWriter } from '../chat/chat-answer-writer.ts';
import type { Translation, ModelTraits } from '../translation.ts';
import { MessagesReader } from '../upstreams/messages/messages-reader.ts';
import { messagesUpstream } from '../upstreams/messages/messages-upstream.ts';
import { readCustomToolNames, convertCustomToFunctions } from '../vocabulary/custom-tools.ts';
import { chatToMessagesReply } from './chat-to-messages-reply.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import { chatHistoryToMessages } from './chat-history-to-messages.ts';
import { chatToolsToMessages } from './chat-tools-to-messages.ts';
import { copyFurtherFields, refuseFeatures, chatFields } from '../request-fields.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { simplifyContent } from '../upstreams/messages/translated-history.ts';
import { createGenerationFields, jsonInstruction } from '../upstreams/messages/generation-fields.ts';
import { readChatThinking } from '../vocabulary/thinking.ts';

export const chatToMessages: Translation = {
  client: chatFormat,
  upstream: messagesUpstream,
  passesHeaders: false,
  recallFields: readCustomToolNames,
  translateRequest: chatToMessagesRequest,
  translateReply: chatToMessagesReply,
  createStream: (answerContext) => new MessagesReader(answerContext, new ChatAnswerWriter(answerContext)),
};

/** The response formats that can be translated. Engines have further response formats, such as grammars. */
const translatableFormats: ReadonlySet<string> = new Set(['text', 'json_object', 'json_schema']);

/**
 * Translates a chat client's request for a `messages` upstream. `docs/translation.md` lists the effect on each field.
 * @throws RouterError `unsupported_parameter` that names a field the upstream cannot serve
 */
function chatToMessagesRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  const request = convertCustomToFunctions(body as ChatRequest);
  refuseFields(request);
  const { system, messages } = chatHistoryToMessages(request.messages);
  if (request.response_format?.type === 'json_object') system.push(jsonInstruction);
  const tools = chatToolsToMessages(request);
  const generation = {
    maxTokens: request.max_completion_tokens ?? request.max_tokens,
    thinking: readChatThinking(request),
    temperature: request.temperature,
    topP: request.top_p,
    topK: request.top_k,
    stop: request.stop,
    schema: readSchema(request),
    user: request['safety_identifier'] ?? request['user'],
  };
  return {
    ...copyFurtherFields(request, chatFields),
    model: traits.model,
    ...(system.length > 0 && { system: simplifyContent(system) }),
    messages,
    ...tools,
    ...createGenerationFields(generation, tools, traits),
    ...(request.stream === true && { stream: true }),
  };
}

function refuseFields(request: ChatRequest): void {
  refuseFeatures(request, chatFields.refused, createUnsupportedChatError);
  const { modalities, response_format: format, n } = request;
  if ((n ?? 1) > 1) throw createUnsupportedChatError('n', 'more than one choice');
  if (format && !translatableFormats.has(format.type)) {
    throw createUnsupportedChatError('response_format.type', `a response format of type '${format.type}'`);
  }
  if (Array.isArray(modalities) && modalities.includes('audio'))
    throw createUnsupportedChatError('modalities', 'audio output');
}

function readSchema({ response_format: format }: ChatRequest): JsonObject | undefined {
  if (format?.type !== 'json_schema') return undefined;
  const { schema } = (format['json_schema'] ?? {}) as { schema?: JsonObject | null };
  return schema ?? { type: 'object' };
}
