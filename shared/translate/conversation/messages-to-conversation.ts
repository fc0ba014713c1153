import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { type MessagesRequest, type MessagesBlock, readSystemTexts } from '#shared/formats/messages/request.ts';
import { type Conversation, conversationUpstream, type TurnBlock } from './conversation.ts';
import { messagesToChat } from '../messages-chat/messages-to-chat.ts';
import type { Translation, ModelTraits } from '../translation.ts';
import type { RouterError } from '#shared/core/errors.ts';
import { writeHostedBlockText } from '#shared/formats/messages/hosted/hosted-block.ts';
import { createUnsupportedMessagesError } from '../unsupported.ts';
import { thinkingToEffort } from '../vocabulary/thinking.ts';
import { expandSummary } from '../context/expand-summary.ts';
import { readType } from '#shared/core/json.ts';
import { requestsFeature } from '#shared/formats/request-feature.ts';
import { arrangeTurns, type Turn } from './arrange-turns.ts';

export const messagesToConversation: Translation<Conversation> = {
  client: messagesFormat,
  upstream: conversationUpstream,
  passesHeaders: false,
  translateRequest: (body, traits) => readMessagesConversation(body as MessagesRequest, traits),
  translateReply: messagesToChat.translateReply,
  createStream: messagesToChat.createStream,
};

/**
 * Fields that no CLI supports. They cannot be ignored, because the answer would be wrong without them, so a request with one is refused.
 */
const refusedFields: Readonly<Record<string, string>> = {
  tools: 'tools of the client',
  output_format: 'an output format',
  mcp_servers: 'MCP servers that the upstream connects to',
  container: 'a container on the upstream',
  compaction: 'a request for a summary in place of an answer',
};

/**
 * Reads the conversation of a `messages` request. Ignores the sampling parameters, because no CLI accepts them.
 * @throws RouterError `unsupported_parameter` that names a field that a CLI cannot serve
 */
export function readMessagesConversation(
  original: MessagesRequest,
  { model, takesImages = false }: ModelTraits,
): Conversation {
  const request = expandSummary(original);
  refuseFields(request);
  const system = readSystemTexts(request.system ?? '');
  const turns: Turn<TurnBlock>[] = [];
  for (const [index, { role, content }] of request.messages.entries()) {
    const param = `messages.${index}.content`;
    if (role === 'system') system.push(...readSystemTexts(content));
    else turns.push({ role, blocks: toTurnBlocks(content, param, takesImages && role === 'user') });
  }
  const { thinking, output_config: output, max_tokens: maxTokens, stop_sequences: stop } = request;
  return {
    model,
    system: system.join('\n\n'),
    ...arrangeTurns(turns),
    effort: thinkingToEffort(thinking, output?.effort) ?? output?.effort ?? undefined,
    maxTokens,
    stop: (stop ?? []).filter((text) => text !== ''),
  };
}

function toTurnBlocks(content: string | MessagesBlock[], param: string, takesImages: boolean): TurnBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((block, index): TurnBlock[] => {
    if (block.type === 'thinking' || block.type === 'redacted_thinking') return [];
    if (block.type === 'text') return [{ type: 'text', text: block.text }];
    const hostedText = writeHostedBlockText(block);
    if (hostedText !== undefined) return [{ type: 'text', text: hostedText }];
    if (block.type === 'image' && takesImages) return [{ type: 'image', source: block.source }];
    throw createUnsupportedBlockError(block.type, `${param}.${index}.type`);
  });
}

function createUnsupportedBlockError(type: string, param: string): RouterError {
  switch (type) {
    case 'image':
      return createUnsupportedMessagesError(param, 'images', 'image_block');
    case 'document':
      return createUnsupportedMessagesError(param, 'documents', 'document_block');
    default:
      return createUnsupportedMessagesError(param, `content of type '${type}'`);
  }
}

/** Refuses a request for a feature that no CLI supports. Accepts `tools` if `tool_choice` is `none`. */
function refuseFields(request: MessagesRequest): void {
  // A client asks for 0 tokens to fill the prompt cache, but a CLI always generates an answer.
  if (request.max_tokens === 0)
    throw createUnsupportedMessagesError('max_tokens', 'a limit of 0, which only warms a cache');
  for (const [field, feature] of Object.entries(refusedFields)) {
    const isUnused = field === 'tools' && readType(request.tool_choice ?? undefined) === 'none';
    if (requestsFeature(request[field]) && !isUnused)
      throw createUnsupportedMessagesError(
        field,
        feature,
        field === 'output_format' ? 'structured_outputs_unsupported' : undefined,
      );
  }
  if (requestsFeature(request.output_config?.format ?? undefined)) {
    throw createUnsupportedMessagesError('output_config.format', 'an output format', 'structured_outputs_unsupported');
  }
}
