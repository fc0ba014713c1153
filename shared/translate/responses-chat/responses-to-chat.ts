import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { toRecalledRequest } from '../responses/recalled-request.ts';
import { ResponsesAnswerWriter } from '../responses/responses-answer-writer.ts';
import type { Translation, ModelTraits } from '../translation.ts';
import { ChatReader } from '../upstreams/chat/chat-reader.ts';
import { chatUpstream } from '../upstreams/chat/chat-upstream.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { copyFurtherFields, refuseFeatures, responsesFields } from '../request-fields.ts';
import { expandCompaction } from '../responses/compaction.ts';
import { flattenTools } from '../responses/flatten-tools.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { responsesHistoryToChat } from './responses-history-to-chat.ts';
import { responsesToolsToChat } from './responses-tools-to-chat.ts';

export const responsesToChat: Translation = {
  client: responsesFormat,
  upstream: chatUpstream,
  passesHeaders: false,
  recallFields: toRecalledRequest,
  translateRequest: responsesToChatRequest,
  translateReply: (body, answerContext) => {
    const writer = new ResponsesAnswerWriter(answerContext);
    const ending = new ChatReader(answerContext, writer).readWhole(body);
    return { body: writer.response, ending };
  },
  createStream: (answerContext) => new ChatReader(answerContext, new ResponsesAnswerWriter(answerContext)),
  findUrlPath: findImagePath,
};

/**
 * Returns the JSON path of the first image with this URL in a Responses request, such as `input[0].content[1].image_url`; undefined if
 * there is no such image.
 */
function findImagePath({ input }: JsonObject, url: string): string | undefined {
  return findPathIn(input, 'input', url);
}

function findPathIn(items: Json | undefined, path: string, url: string): string | undefined {
  for (const [index, item] of (Array.isArray(items) ? items : []).entries()) {
    if (!isJsonObject(item)) continue;
    const here = `${path}[${index}]`;
    if (item['image_url'] === url) return `${here}.image_url`;
    const inside =
      findPathIn(item['content'], `${here}.content`, url) ?? findPathIn(item['output'], `${here}.output`, url);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

const sameNameFields = [
  'temperature',
  'top_p',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
] as const;

/**
 * Translates a Responses client's request for a chat upstream. `docs/translation.md` lists the effect on each field.
 * @throws RouterError `unsupported_parameter` that names a field the upstream cannot serve
 */
function responsesToChatRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  const request = expandCompaction(body, traits.unseal) as ResponsesRequest;
  refuseFeatures(request, responsesFields.refused, createUnsupportedChatError);
  const flatTools = flattenTools(request);
  const { max_output_tokens: limit, reasoning, text } = request;
  return {
    ...copyFurtherFields(request, responsesFields),
    model: traits.model,
    messages: responsesHistoryToChat(request, flatTools, traits),
    // Every engine reads this field.
    ...(typeof limit === 'number' && { max_tokens: limit }),
    ...responsesToolsToChat(request, flatTools),
    ...Object.fromEntries(
      sameNameFields.flatMap((field) => (isPresent(request[field]) ? [[field, request[field]]] : [])),
    ),
    ...(typeof reasoning?.effort === 'string' && { reasoning_effort: reasoning.effort }),
    ...(typeof text?.verbosity === 'string' && { verbosity: text.verbosity }),
    ...toResponseFormat(request),
    ...toLogprobFields(request),
    ...(request.stream === true && { stream: true, stream_options: { include_usage: true } }),
  };
}

/**
 * Returns the fields that request log probabilities. An upstream without log probabilities ignores these fields, or refuses them by name.
 */
function toLogprobFields({ include, top_logprobs: top }: ResponsesRequest): JsonObject {
  const count = typeof top === 'number' && top > 0 ? top : undefined;
  if (count === undefined && include?.includes('message.output_text.logprobs') !== true) return {};
  return { logprobs: true, ...(count !== undefined && { top_logprobs: count }) };
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function toResponseFormat({ text }: ResponsesRequest): JsonObject {
  const format = text?.format;
  switch (format?.type) {
    case undefined:
    case 'text':
      return {};
    case 'json_schema': {
      const { type: _, ...schema } = format;
      return { response_format: { type: 'json_schema', json_schema: schema } };
    }
    case 'json_object':
      return { response_format: { type: 'json_object' } };
    default:
      throw createUnsupportedChatError('text.format.type', `a format of type '${format?.type}'`);
  }
}
