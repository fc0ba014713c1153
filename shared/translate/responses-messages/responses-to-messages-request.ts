import type { JsonObject } from '#shared/core/json.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { ruledFields, withoutRuledFields } from '../field-rule.ts';
import { expandCompaction } from '../responses/compaction.ts';
import { flattenTools } from '../responses/flatten-tools.ts';
import type { ModelTraits } from '../translation.ts';
import { unsupportedInChat } from '../unsupported.ts';
import { generationFields, jsonInstruction, simplifySystem } from '../upstreams/messages/generation-fields.ts';
import { type ThinkingRequest, thinkingForChat } from '../vocabulary/thinking.ts';
import { requestRules } from './field-rules.ts';
import { addCacheMarks } from './add-cache-marks.ts';
import { responsesHistoryToMessages } from './responses-history-to-messages.ts';
import { responsesToolsToMessages } from './responses-tools-to-messages.ts';

const fields = ruledFields(requestRules);

/**
 * Limit of output tokens if the client sets none, by which the Responses format means as many as the model can generate. The `messages`
 * format requires a limit, and thinking counts towards it. A higher limit would be refused for a long input by upstreams that add both.
 */
const defaultMaxTokens = 32_000;

/**
 * Translates a Responses client's request for a `messages` upstream. `field-rules.ts` lists the effect on each field.
 * @throws RouterError `unsupported_parameter` that names a field the upstream cannot serve
 */
export function responsesToMessagesRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  const request = expandCompaction(body, traits.unseal) as ResponsesRequest;
  refuseFields(request);
  const flat = flattenTools(request);
  const history = responsesHistoryToMessages(request, flat, traits);
  if (request.text?.format?.type === 'json_object') history.system.push({ ...jsonInstruction });
  const tools = responsesToolsToMessages(request, flat, traits);
  addCacheMarks(history, request, flat.tools.length > 0);
  const generation = {
    maxTokens: request.max_output_tokens ?? (traits.maxOutput && Math.min(traits.maxOutput, defaultMaxTokens)),
    thinking: readThinking(request),
    temperature: request.temperature,
    topP: request.top_p,
    schema: readSchema(request),
    user: request['safety_identifier'] ?? request['user'],
  };
  return {
    ...furtherFields(request),
    model: traits.model,
    ...(history.system.length > 0 && { system: simplifySystem(history.system) }),
    messages: history.messages,
    ...tools,
    ...generationFields(generation, tools, traits),
    ...(request.stream === true && { stream: true }),
  };
}

function refuseFields(request: ResponsesRequest): void {
  for (const [field, what] of fields.refused) {
    const value = request[field];
    const isSet = value !== undefined && value !== null && value !== false && value !== 0;
    if (isSet && !(Array.isArray(value) && value.length === 0)) throw unsupportedInChat(field, what);
  }
  if (request.include?.includes('message.output_text.logprobs') === true) {
    throw unsupportedInChat('include', 'log probabilities');
  }
}

/** Returns the fields without a rule, which are sent on unchanged. The upstream refuses those that it does not know. */
function furtherFields(request: ResponsesRequest): JsonObject {
  return withoutRuledFields(request, fields);
}

/**
 * Returns the thinking settings. They ask for the text of the thinking, which some models show only then, if the client wants a summary.
 */
function readThinking(request: ResponsesRequest): ThinkingRequest | undefined {
  const thinking = thinkingForChat({ reasoning: request.reasoning ?? undefined });
  const shows = typeof request.reasoning?.summary === 'string';
  if (thinking?.thinking.type !== 'adaptive' || !shows) return thinking;
  return { ...thinking, thinking: { ...thinking.thinking, display: 'summarized' } };
}

function readSchema({ text }: ResponsesRequest): JsonObject | undefined {
  if (text?.format?.type !== 'json_schema') return undefined;
  const { schema } = text.format as { schema?: JsonObject | null };
  return schema ?? { type: 'object' };
}
