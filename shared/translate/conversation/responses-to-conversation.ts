import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import type { ResponsesRequest, ResponsesItem, ResponsesMessage } from '#shared/formats/responses/request.ts';
import { type Conversation, conversationUpstream, type TurnBlock, computeEffort } from './conversation.ts';
import { responsesToChat } from '../responses-chat/responses-to-chat.ts';
import { expandCompaction } from '../responses/compaction.ts';
import { toRecalledRequest } from '../responses/recalled-request.ts';
import type { Translation, ModelTraits } from '../translation.ts';
import { arrangeTurns, type Turn } from './arrange-turns.ts';
import { readType } from '#shared/core/json.ts';
import { requestsFeature } from '#shared/formats/request-feature.ts';
import { responsesContentToBlocks } from '../responses-messages/responses-content-to-blocks.ts';
import { flattenTools } from '../responses/flatten-tools.ts';
import { isHostedCall, refuseServerTools } from '../responses/refuse-server-tools.ts';
import { createUnsupportedChatError } from '../unsupported.ts';

export const responsesToConversation: Translation<Conversation> = {
  client: responsesFormat,
  upstream: conversationUpstream,
  passesHeaders: false,
  recallFields: toRecalledRequest,
  translateRequest: (body, traits) =>
    readResponsesConversation(expandCompaction(body, traits.unseal) as ResponsesRequest, traits),
  translateReply: responsesToChat.translateReply,
  createStream: responsesToChat.createStream,
};

/**
 * Fields that no CLI supports. They cannot be ignored, because the answer would be wrong without them, so a request with one is refused.
 */
const refusedFields: Readonly<Record<string, string>> = {
  top_logprobs: 'log probabilities',
  conversation: 'conversations stored on the server',
  prompt: 'prompts stored on the server',
};

/**
 * Reads the conversation of a Responses request. Ignores the sampling parameters, because no CLI accepts them. Also ignores the thinking of
 * earlier turns.
 * @throws RouterError `unsupported_parameter` that names a field that a CLI cannot serve
 */
export function readResponsesConversation(request: ResponsesRequest, traits: ModelTraits): Conversation {
  refuseFields(request);
  refuseTools(request);
  const { model, takesImages = false } = traits;
  const { instructions, input, max_output_tokens: maxTokens } = request;
  const system: string[] = typeof instructions === 'string' && instructions !== '' ? [instructions] : [];
  const turns: Turn<TurnBlock>[] = [];
  const items: ResponsesItem[] = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
  for (const [index, item] of items.entries()) {
    const message = readMessage(item, `input[${index}]`);
    if (!message) continue;
    const { role, content } = message;
    const blocks = toTurnBlocks(content, `input[${index}].content`, takesImages && role === 'user');
    if (role === 'user' || role === 'assistant') turns.push({ role, blocks });
    else system.push(...blocks.map((block) => (block.type === 'text' ? block.text : '')));
  }
  return {
    model,
    system: system.join('\n\n'),
    ...arrangeTurns(turns, 'input'),
    effort: computeEffort({ reasoning: request.reasoning ?? undefined }),
    maxTokens: maxTokens ?? undefined,
    stop: [],
  };
}

/**
 * Returns the item if it is a message; undefined for an item that a CLI does not need.
 * @throws RouterError `unsupported_parameter` for any other item
 */
function readMessage(item: ResponsesItem, param: string): ResponsesMessage | undefined {
  switch (item.type) {
    case undefined:
    case null:
    case 'message':
      return item as ResponsesMessage;
    case 'reasoning':
    case 'additional_tools':
      return undefined;
    default:
      if (isHostedCall(item.type)) return undefined;
      throw createUnsupportedChatError(`${param}.type`, `items of type '${item.type}'`);
  }
}

function toTurnBlocks(content: ResponsesMessage['content'], param: string, takesImages: boolean): TurnBlock[] {
  return responsesContentToBlocks(content, param).map((block): TurnBlock => {
    if (block.type === 'text') return { type: 'text', text: block.text };
    if (block.type === 'image' && takesImages) return { type: 'image', source: block.source };
    throw createUnsupportedChatError(param, block.type === 'image' ? 'images' : `content of type '${block.type}'`);
  });
}

/** Refuses the tools of a request, unless its tool choice is `none`. */
function refuseTools(request: ResponsesRequest): void {
  if (request.tool_choice === 'none') return;
  const { tools, serverTools } = flattenTools(request);
  if (tools.length > 0) throw createUnsupportedChatError('tools', 'tools of the client');
  refuseServerTools({ tools, serverTools });
}

function refuseFields(request: ResponsesRequest): void {
  for (const [field, feature] of Object.entries(refusedFields)) {
    if (requestsFeature(request[field])) throw createUnsupportedChatError(field, feature);
  }
  if (request.include?.includes('message.output_text.logprobs') === true) {
    throw createUnsupportedChatError('include', 'log probabilities');
  }
  const type = readType(request.text?.format ?? undefined);
  if (type !== undefined && type !== 'text') throw createUnsupportedChatError('text.format', `the format '${type}'`);
}
