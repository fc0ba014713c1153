import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { toRecalledRequest } from '../responses/recalled-request.ts';
import { ResponsesAnswerWriter } from '../responses/responses-answer-writer.ts';
import type { Translation, ModelTraits } from '../translation.ts';
import { MessagesReader } from '../upstreams/messages/messages-reader.ts';
import { messagesUpstream } from '../upstreams/messages/messages-upstream.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { copyFurtherFields, refuseFeatures, responsesFields } from '../request-fields.ts';
import { expandCompaction } from '../responses/compaction.ts';
import { flattenTools } from '../responses/flatten-tools.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { simplifyContent } from '../upstreams/messages/translated-history.ts';
import { createGenerationFields, jsonInstruction } from '../upstreams/messages/generation-fields.ts';
import { type ThinkingRequest, readChatThinking } from '../vocabulary/thinking.ts';
import { addCacheMarks } from './add-cache-marks.ts';
import { responsesHistoryToMessages } from './responses-history-to-messages.ts';
import { responsesToolsToMessages } from './responses-tools-to-messages.ts';

export const responsesToMessages: Translation = {
  client: responsesFormat,
  upstream: messagesUpstream,
  passesHeaders: false,
  recallFields: toRecalledRequest,
  translateRequest: responsesToMessagesRequest,
  translateReply: (body, answerContext) => {
    const writer = new ResponsesAnswerWriter(answerContext);
    const ending = new MessagesReader(answerContext, writer).readWhole(body);
    return { body: writer.response, ending };
  },
  createStream: (answerContext) => new MessagesReader(answerContext, new ResponsesAnswerWriter(answerContext)),
};

const refused = new Map([['top_logprobs', 'log probabilities'], ...responsesFields.refused]);

/**
 * Limit of output tokens for a client that sets no limit. In the Responses format, no limit means as many tokens as the model can generate.
 * The `messages` format requires a limit, and thinking counts towards it. Some upstreams add input and limit, and would refuse a higher
 * limit for a long input.
 */
const defaultMaxTokens = 32_000;

/**
 * Translates a Responses client's request for a `messages` upstream. `docs/translation.md` lists the effect on each field.
 * @throws RouterError `unsupported_parameter` that names a field the upstream cannot serve
 */
export function responsesToMessagesRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  const request = expandCompaction(body, traits.unseal) as ResponsesRequest;
  refuseFields(request);
  const flatTools = flattenTools(request);
  const history = responsesHistoryToMessages(request, flatTools, traits);
  if (request.text?.format?.type === 'json_object') history.system.push({ ...jsonInstruction });
  const tools = responsesToolsToMessages(request, flatTools, traits);
  addCacheMarks(history, request, flatTools.tools.length > 0);
  const generation = {
    maxTokens: request.max_output_tokens ?? (traits.maxOutput && Math.min(traits.maxOutput, defaultMaxTokens)),
    thinking: readThinking(request),
    temperature: request.temperature,
    topP: request.top_p,
    schema: readSchema(request),
    user: request['safety_identifier'] ?? request['user'],
  };
  return {
    ...copyFurtherFields(request, responsesFields),
    model: traits.model,
    ...(history.system.length > 0 && { system: simplifyContent(history.system) }),
    messages: history.messages,
    ...tools,
    ...createGenerationFields(generation, tools, traits),
    ...(request.stream === true && { stream: true }),
  };
}

function refuseFields(request: ResponsesRequest): void {
  refuseFeatures(request, refused, createUnsupportedChatError);
  if (request.include?.includes('message.output_text.logprobs') === true) {
    throw createUnsupportedChatError('include', 'log probabilities');
  }
}

/**
 * Returns the thinking settings. If the client wants a summary, the settings request the text of the thinking, which some models otherwise
 * hide.
 */
function readThinking(request: ResponsesRequest): ThinkingRequest | undefined {
  const thinking = readChatThinking({ reasoning: request.reasoning ?? undefined });
  const wantsSummary = typeof request.reasoning?.summary === 'string';
  if (thinking?.thinking.type !== 'adaptive' || !wantsSummary) return thinking;
  return { ...thinking, thinking: { ...thinking.thinking, display: 'summarized' } };
}

function readSchema({ text }: ResponsesRequest): JsonObject | undefined {
  if (text?.format?.type !== 'json_schema') return undefined;
  const { schema } = text.format as { schema?: JsonObject | null };
  return schema ?? { type: 'object' };
}
