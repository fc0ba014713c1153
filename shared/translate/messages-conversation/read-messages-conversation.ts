import type { RouterError } from '#shared/core/errors.ts';
import { hostedBlockText } from '#shared/formats/messages/hosted/hosted-block.ts';
import type { MessagesBlock, MessagesRequest, ThinkingBlock } from '#shared/formats/messages/request.ts';
import type { Target } from '../translation.ts';
import { unsupportedInMessages } from '../unsupported.ts';
import { effortForThinking, isSyntheticSignature } from '../vocabulary/thinking.ts';
import { afterSummary } from '../context/after-summary.ts';
import type { Conversation, Turn, TurnBlock } from '../conversation/conversation.ts';
import { isAsked, typeOf } from '../conversation/is-asked.ts';
import { arrangeTurns } from '../conversation/arrange-turns.ts';

/** Fields that no CLI supports and without which the answer would be wrong. */
const refusedFields: Readonly<Record<string, string>> = {
  tools: 'tools of the client',
  output_format: 'an output format',
  mcp_servers: 'MCP servers that the upstream connects to',
  container: 'a container on the upstream',
  compaction: 'a request for a summary in place of an answer',
};

/**
 * Reads the conversation of a messages request. Sampling is ignored: no CLI takes it.
 * @throws RouterError `unsupported_parameter` with the field that a CLI cannot serve
 */
export function readMessagesConversation(
  given: MessagesRequest,
  { model, takesImages = false, takesThinking = false }: Target,
): Conversation {
  const request = afterSummary(given);
  refuseFields(request);
  const system = textsOf(request.system ?? '');
  const turns: Turn[] = [];
  for (const [at, { role, content }] of request.messages.entries()) {
    const param = `messages.${at}.content`;
    if (role === 'system') system.push(...textsOf(content));
    else
      turns.push({
        role,
        blocks: blocksOf(content, param, { images: takesImages && role === 'user', thinking: takesThinking }),
      });
  }
  const { thinking, output_config: output, max_tokens: maxTokens, stop_sequences: stop } = request;
  return {
    model,
    system: system.join('\n\n'),
    ...arrangeTurns(turns),
    effort: effortForThinking(thinking, output?.effort) ?? output?.effort ?? undefined,
    // 0 only loads the prompt into the cache; the lowest limit of a CLI is one token.
    maxTokens: maxTokens === undefined ? undefined : Math.max(1, maxTokens),
    stop: (stop ?? []).filter((text) => text !== ''),
  };
}

/** Start of a system block with Claude Code's version, which is not meant for the model. */
const billingHeader = 'x-anthropic-billing-header:';

function textsOf(content: string | readonly MessagesBlock[]): string[] {
  const texts =
    typeof content === 'string' ? [content] : content.map((block) => (block.type === 'text' ? block.text : ''));
  return texts.filter((text) => text !== '' && !text.startsWith(billingHeader));
}

function blocksOf(
  content: string | MessagesBlock[],
  param: string,
  takes: { images: boolean; thinking: boolean },
): TurnBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((block, at): TurnBlock[] => {
    if (block.type === 'thinking') return takes.thinking ? signedThinking(block) : [];
    if (block.type === 'redacted_thinking') return [];
    // Cache hints are left out: the CLI sets its own, and the upstream limits their number.
    if (block.type === 'text') return [{ type: 'text', text: block.text }];
    const hosted = hostedBlockText(block);
    if (hosted !== undefined) return [{ type: 'text', text: hosted }];
    if (block.type === 'image' && takes.images) return [{ type: 'image', source: block.source }];
    throw refusal(block.type, `${param}.${at}.type`);
  });
}

/** Thinking that the router has signed itself means nothing to the agent's upstream. */
function signedThinking({ type, thinking, signature }: ThinkingBlock): TurnBlock[] {
  return isSyntheticSignature(signature) ? [] : [{ type, thinking, signature }];
}

function refusal(type: string, param: string): RouterError {
  switch (type) {
    case 'image':
      return unsupportedInMessages(param, 'images', 'image_block');
    case 'document':
      return unsupportedInMessages(param, 'documents', 'document_block');
    default:
      return unsupportedInMessages(param, `content of type '${type}'`);
  }
}

/** Refuses fields that no CLI supports. Tools with the choice `none` are ignored. */
function refuseFields(request: MessagesRequest): void {
  for (const [field, what] of Object.entries(refusedFields)) {
    const unused = field === 'tools' && typeOf(request.tool_choice ?? undefined) === 'none';
    if (isAsked(request[field]) && !unused)
      throw unsupportedInMessages(
        field,
        what,
        field === 'output_format' ? 'structured_outputs_unsupported' : undefined,
      );
  }
  if (isAsked(request.output_config?.format ?? undefined)) {
    throw unsupportedInMessages('output_config.format', 'an output format', 'structured_outputs_unsupported');
  }
}
