import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { computeAppliedEdits, editContext } from '../context/edit-context.ts';
import { MessagesAnswerWriter } from '../messages/messages-answer-writer.ts';
import type { Translation, ModelTraits } from '../translation.ts';
import { ResponsesReader } from '../upstreams/responses/responses-reader.ts';
import { responsesUpstream, encryptedThinking } from '../upstreams/responses/responses-upstream.ts';
import { messagesToResponsesReply } from './messages-to-responses-reply.ts';
import { readRecalledThinking, readRequestedThinking } from '../vocabulary/shown-thinking.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { readSystemTexts, type MessagesRequest } from '#shared/formats/messages/request.ts';
import { expandSummary } from '../context/expand-summary.ts';
import {
  copyFurtherFields,
  refuseFeatures,
  messagesFields,
  findAccountField,
  computePseudonym,
} from '../request-fields.ts';
import { createUnsupportedMessagesError } from '../unsupported.ts';
import { thinkingToEffort } from '../vocabulary/thinking.ts';
import { messagesHistoryToItems } from './messages-history-to-items.ts';
import { messagesToolsToResponses } from './messages-tools-to-responses.ts';

export const messagesToResponses: Translation = {
  client: messagesFormat,
  upstream: responsesUpstream,
  passesHeaders: false,
  recallFields: (body) => ({ ...computeAppliedEdits(body), ...readRequestedThinking(body) }),
  translateRequest: messagesToResponsesRequest,
  translateReply: messagesToResponsesReply,
  createStream: (answerContext) => {
    // If the client asks for thinking without text, the upstream itself omits the text.
    const shownThinking = readRecalledThinking(answerContext.recalled) === 'none' ? 'none' : 'text';
    return new ResponsesReader(answerContext, new MessagesAnswerWriter(answerContext, shownThinking), true);
  },
};

const refused = new Map([['stop_sequences', 'stop sequences'], ...messagesFields.refused]);

/**
 * Translates a `messages` client's request for a Responses upstream. `docs/translation.md` lists the effect on each field.
 * @throws RouterError `unsupported_parameter` that names a field the upstream cannot serve
 */
function messagesToResponsesRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  const request = expandSummary(body as MessagesRequest);
  refuseFields(request);
  const { messages } = editContext(request);
  const { system, max_tokens: maxTokens } = request;
  const instructions = readSystemTexts(system ?? '').join('\n\n');
  const reasoning = toReasoning(request);
  const user = request.metadata?.user_id;
  return {
    ...copyFurtherFields(request, messagesFields),
    model: traits.model,
    ...(instructions !== '' && { instructions }),
    input: messagesHistoryToItems(messages, traits),
    // A token count request has no limit.
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...messagesToolsToResponses(request),
    ...copyField(request, 'temperature'),
    ...copyField(request, 'top_p'),
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
    ...(reasoning['effort'] !== 'none' && traits.encrypts === true && { include: [encryptedThinking] }),
    ...toTextFormat(request),
    ...(typeof user === 'string' && user !== '' && { user: computePseudonym(user) }),
    ...(request.stream === true && { stream: true }),
    store: false,
  };
}

function refuseFields(request: MessagesRequest): void {
  if (request.max_tokens === 0)
    throw createUnsupportedMessagesError('max_tokens', 'a limit of 0, which only warms a cache');
  const stored = findAccountField(request);
  if (stored !== undefined)
    throw createUnsupportedMessagesError(stored, 'conversations and prompts stored on the server');
  refuseFeatures(request, refused, createUnsupportedMessagesError);
}

function copyField(request: MessagesRequest, field: 'temperature' | 'top_p'): JsonObject {
  const value = request[field];
  return value === undefined || value === null ? {} : { [field]: value };
}

/**
 * Returns the thinking settings. If the client wants the text of the thinking, they request a summary, because the upstream shows nothing
 * else of its thinking.
 */
function toReasoning({ thinking, output_config: config }: MessagesRequest): JsonObject {
  const effort = thinkingToEffort(thinking, config?.effort) ?? config?.effort ?? undefined;
  if (effort === undefined) return {};
  const showsThinking = thinking && effort !== 'none' && thinking['display'] !== 'omitted';
  return { effort, ...(showsThinking && { summary: 'auto' }) };
}

function toTextFormat({ output_config: config, output_format: olderFormat }: MessagesRequest): JsonObject {
  const format = config?.format ?? olderFormat;
  if (format?.['type'] !== 'json_schema') return {};
  const schema = format['schema'] ?? { type: 'object' };
  return { text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } } };
}
