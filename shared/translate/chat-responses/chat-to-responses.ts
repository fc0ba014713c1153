import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { ChatAnswerWriter } from '../chat/chat-answer-writer.ts';
import type { Translation, ModelTraits } from '../translation.ts';
import { ResponsesReader } from '../upstreams/responses/responses-reader.ts';
import { responsesUpstream } from '../upstreams/responses/responses-upstream.ts';
import { chatToResponsesReply } from './chat-to-responses-reply.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import { copyFurtherFields, refuseFeatures, chatFields, findAccountField } from '../request-fields.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { readChatEffort } from '../vocabulary/thinking.ts';
import { chatHistoryToItems } from './chat-history-to-items.ts';
import { chatToolsToResponses } from './chat-tools-to-responses.ts';

export const chatToResponses: Translation = {
  client: chatFormat,
  upstream: responsesUpstream,
  passesHeaders: false,
  translateRequest: chatToResponsesRequest,
  translateReply: chatToResponsesReply,
  createStream: (answerContext) => new ResponsesReader(answerContext, new ChatAnswerWriter(answerContext)),
};

const refused = new Map([['stop', 'stop sequences'], ...chatFields.refused]);

/** The fields that both formats have. */
const passedFields = [
  'temperature',
  'top_p',
  'stream',
  'parallel_tool_calls',
  'user',
  'safety_identifier',
  'metadata',
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'moderation',
] as const;

/**
 * Translates a chat client's request for a Responses upstream. `docs/translation.md` lists the effect on each field.
 * @throws RouterError `unsupported_parameter` that names a field the upstream cannot serve
 */
function chatToResponsesRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  const request = body as ChatRequest;
  refuseFields(request);
  const maxOutput = request.max_completion_tokens ?? request.max_tokens;
  const reasoning = toReasoning(request);
  const text = toTextSettings(request);
  return {
    ...copyPassedFields(request),
    model: traits.model,
    input: chatHistoryToItems(request.messages),
    ...(typeof maxOutput === 'number' && { max_output_tokens: maxOutput }),
    ...chatToolsToResponses(request),
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
    ...(Object.keys(text).length > 0 && { text }),
    // Chat clients never fetch an answer by its id.
    store: false,
  };
}

function refuseFields(request: ChatRequest): void {
  const stored = findAccountField(request);
  if (stored !== undefined) throw createUnsupportedChatError(stored, 'conversations and prompts stored on the server');
  refuseFeatures(request, refused, createUnsupportedChatError);
  const { modalities, n } = request;
  if ((n ?? 1) > 1) throw createUnsupportedChatError('n', 'more than one choice');
  if (Array.isArray(modalities) && modalities.includes('audio'))
    throw createUnsupportedChatError('modalities', 'audio output');
}

/** Copies the fields that both formats have, and further fields. */
function copyPassedFields(request: ChatRequest): JsonObject {
  const further = copyFurtherFields(request, chatFields);
  for (const field of passedFields) {
    const value = request[field];
    if (value !== undefined && value !== null) further[field] = value;
  }
  return further;
}

function toReasoning(request: ChatRequest): JsonObject {
  const { reasoning } = request;
  const effort = readChatEffort(request);
  const summary = typeof reasoning === 'object' && reasoning !== null && 'summary' in reasoning && reasoning.summary;
  return {
    ...(effort !== undefined && { effort }),
    ...(typeof summary === 'string' && { summary }),
  };
}

function toTextSettings({ response_format: format, verbosity }: ChatRequest): JsonObject {
  return {
    ...(format && toFormat(format)),
    ...(typeof verbosity === 'string' && { verbosity }),
  };
}

function toFormat(format: JsonObject & { type: string }): JsonObject {
  switch (format.type) {
    case 'json_schema': {
      const { name, schema, strict, description } = (format['json_schema'] ?? {}) as JsonObject;
      return {
        format: {
          type: 'json_schema',
          name: name ?? 'answer',
          schema: schema ?? { type: 'object' },
          ...(typeof description === 'string' && { description }),
          // Without this field, the Responses format is strict, but the chat format is not.
          strict: strict ?? false,
        },
      };
    }
    case 'text':
      return {};
    case 'json_object':
      return { format: { type: format.type } };
    default:
      throw createUnsupportedChatError('response_format.type', `a response format of type '${format.type}'`);
  }
}
