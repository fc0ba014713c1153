import { readRepeatedFields } from '#shared/formats/responses/response-object.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { requestsCompaction, expandCompaction, expandSummaries } from '../responses/compaction.ts';
import { toRecalledRequest } from '../responses/recalled-request.ts';
import type { Translation, ModelTraits, Ending, AnswerContext } from '../translation.ts';
import {
  responsesUpstream,
  encryptedThinking,
  isToolCall,
  readResponseFinishReason,
} from '../upstreams/responses/responses-upstream.ts';
import { CompactionStream, readSummary } from './compaction-stream.ts';
import { ResponsesToResponsesStream } from './responses-to-responses-stream.ts';
import { requestsFeature } from '#shared/formats/request-feature.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { RouterError } from '#shared/core/errors.ts';
import { isOwnHostedItem, replaceHostedItemsAt } from '#shared/formats/responses/hosted/with-function-calls.ts';
import type { ResponsesItem, ResponsesReasoning, ResponsesRequest } from '#shared/formats/responses/request.ts';
import { readReasoning } from '../responses/sealed-thinking.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { removeItemMarks, addItemMarks } from '../vocabulary/origin-mark.ts';
import { fillUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import { ResponsesAnswerWriter } from '../responses/responses-answer-writer.ts';
import { readFailure } from '../upstreams/responses/upstream-error.ts';
import { readResponsesUsage } from '#shared/formats/responses/usage.ts';
import { addRequiredFields, createRouterFields } from './response-fields.ts';

/** Changes only the fields that identify the answer, the fields about stored responses, and content that only one upstream can read. */
export const responsesToResponses: Translation = {
  client: responsesFormat,
  upstream: responsesUpstream,
  passesHeaders: true,
  recallFields: (body) => (requestsCompaction(body) ? toRecalledRequest(body) : { repeated: readRepeatedFields(body) }),
  translateRequest: responsesToResponsesRequest,
  translateReply: responsesToResponsesReply,
  createStream: (answerContext) => {
    const relay = new ResponsesToResponsesStream(answerContext);
    return answerContext.recalled?.['compacts'] === true ? new CompactionStream(answerContext, relay) : relay;
  },
};

/**
 * Matches the ids of items that this router has written, including items of later turns of one answer. These ids are unknown to the
 * upstream.
 */
const ownItemId = /^[a-z]+_[0-9a-f]{32}(?:_\d+)+$/;

/**
 * Converts a Responses client's request for a Responses upstream. Changes only the model's name, the fields about stored responses, and
 * content that only this router or another upstream can read. The router stores responses itself, so the upstream stores none. An upstream
 * that can encrypt its thinking is asked for encrypted thinking, so that a later request can continue the thinking of a stored response.
 * Hosted calls that the router has run become function calls. An upstream that does not compact conversations is asked for a summary.
 * @throws RouterError `unsupported_parameter` for fields that would share the operator's account among clients, `invalid_request` for a
 * conversation that another upstream has compacted
 */
export function responsesToResponsesRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  const expand = traits.compacts === true ? expandSummaries : expandCompaction;
  const {
    previous_response_id: _,
    background: __,
    background_options: ___,
    ...request
  } = expand(body, traits.unseal) as ResponsesRequest;
  refuseFields(request, traits);
  const { input, include, store } = request;
  const asksToEncrypt = store !== false && traits.encrypts === true;
  return {
    ...request,
    model: traits.model,
    ...(Array.isArray(input) && {
      input: replaceHostedItemsAt(input, undefined, isOwnHostedItem).flatMap(([index, item]) =>
        toUpstreamItem(item, traits, `input[${index}]`),
      ),
    }),
    store: false,
    ...(asksToEncrypt && { include: [...new Set([...(include ?? []), encryptedThinking])] }),
  };
}

/** Refuses conversations and prompts that the upstream stores. They belong to all users of the router's account there. */
function refuseFields({ conversation, prompt }: JsonObject, { takesPrompts }: ModelTraits): void {
  if (requestsFeature(conversation))
    throw createUnsupportedChatError('conversation', 'conversations stored on the server');
  if (takesPrompts !== true && requestsFeature(prompt))
    throw createUnsupportedChatError(
      'prompt',
      "a prompt of the provider's account, unless `PROVIDER_PROMPTS` allows that",
    );
}

function toUpstreamItem(item: ResponsesItem, traits: ModelTraits, param: string): ResponsesItem[] {
  switch (item.type) {
    case 'item_reference':
      // The input already contains the referenced item.
      return [];
    case 'reasoning':
      return toUpstreamReasoning(item as ResponsesReasoning, traits);
    default:
      return toUpstreamOther(item, traits, param);
  }
}

/**
 * Converts an item other than thinking for the upstream, which cannot read content that another upstream has encrypted. Refuses a summary
 * with such content, and drops any other item with such content.
 */
function toUpstreamOther(item: ResponsesItem, { origin }: ModelTraits, param: string): ResponsesItem[] {
  const readableItem = removeItemMarks(item, origin);
  if (readableItem) return [removeOwnId(readableItem)];
  if (item.type !== 'compaction') return [];
  const message = `${param} is a summary that another upstream has encrypted: the model that serves this request cannot read it.`;
  throw new RouterError('invalid_request', message, { param: `${param}.encrypted_content` });
}

/**
 * Converts thinking for the upstream. Thinking that this upstream has encrypted is sent unchanged. Thinking that this router has sealed, or
 * that has the mark of another upstream, comes from another upstream: only its text is sent, which open models read. Thinking without
 * encrypted content and without text is dropped.
 */
function toUpstreamReasoning(reasoning: ResponsesReasoning, { unseal, origin }: ModelTraits): ResponsesItem[] {
  const item = removeItemMarks(reasoning, origin) ?? removeEncrypted(reasoning);
  const { encrypted_content: encrypted, content } = item;
  const isSealed = typeof encrypted === 'string' && encrypted !== '' && unseal?.(encrypted) !== undefined;
  if (!isSealed) {
    const hasContent = (typeof encrypted === 'string' && encrypted !== '') || (content ?? []).length > 0;
    return hasContent ? [removeOwnId(item)] : [];
  }
  const { text } = readReasoning(item, unseal);
  if (text === '') return [];
  return [{ type: 'reasoning', summary: item.summary ?? [], content: [{ type: 'reasoning_text', text }] }];
}

/** Removes the encrypted content and the id of thinking from another upstream. */
function removeEncrypted(item: ResponsesReasoning): ResponsesReasoning {
  const { encrypted_content: _, id: __, ...rest } = item;
  return rest;
}

function removeOwnId(item: ResponsesItem): ResponsesItem {
  const { id, ...rest } = item;
  return typeof id === 'string' && ownItemId.test(id) ? rest : item;
}

/**
 * Converts the answer of a Responses upstream for a Responses client. Changes only the fields that identify the answer, and the fields
 * about stored responses. Encrypted content gets the upstream's mark. An upstream that does not compact was asked for a summary, which
 * becomes a `compaction` item.
 * @throws RouterError with the error of a failed response; `upstream_failed` if the body is not a response
 */
function responsesToResponsesReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = readFailure(body);
  if (failure) throw failure;
  const { output } = body;
  if (!Array.isArray(output)) throw new RouterError('upstream_failed', 'The upstream sent an answer without output.');
  const response = addRequiredFields(body, answerContext);
  const usage = fillUsage(readResponsesUsage(body), {
    prompt: answerContext.promptTokens,
    completion: () => estimateTokens(JSON.stringify(output)),
  });
  const ending = { usage, finishReason: readResponseFinishReason(body, output.some(isToolCall)) };
  const summary = answerContext.recalled?.['compacts'] === true ? readSummary(output) : undefined;
  if (summary === undefined)
    return {
      body: addItemMarks({ ...response, ...createRouterFields(response, answerContext) }, answerContext.origin),
      ending,
    };
  const answer = new ResponsesAnswerWriter(answerContext);
  answer.addText(summary);
  answer.finish(ending);
  return { body: answer.response, ending };
}
