import type { MessagesBlock, MessagesRequest } from '#shared/formats/messages/request.ts';
import { unsupportedInMessages } from '#shared/translate/unsupported.ts';
import { effortForThinking } from '#shared/translate/vocabulary/thinking.ts';
import type { Conversation, Turn, TurnBlock } from './conversation.ts';
import { refuseMessagesFields } from './refuse-fields.ts';
import { arrangeTurns } from './turns.ts';

/**
 * The conversation that a messages request asks for. Thinking of earlier turns is left out: a CLI keeps its own. Sampling is
 * left to the CLI: it has no way to be told.
 * @throws RouterError `unsupported_parameter` that names what the CLI cannot do
 */
export function readMessagesConversation(request: MessagesRequest, model: string, takesImages: boolean): Conversation {
  refuseMessagesFields(request);
  const system = textsOf(request.system ?? '');
  const turns: Turn[] = [];
  for (const [at, { role, content }] of request.messages.entries()) {
    const param = `messages.${at}.content`;
    if (role === 'system') system.push(...textsOf(content));
    else turns.push({ role, blocks: blocksOf(content, param, takesImages && role === 'user') });
  }
  const { thinking, output_config: output, max_tokens: maxTokens, stop_sequences: stop } = request;
  return {
    model,
    system: system.join('\n\n'),
    ...arrangeTurns(turns),
    effort: effortForThinking(thinking, output?.effort) ?? output?.effort ?? undefined,
    // 0 asks for nothing but a warm cache; the least a CLI can be held to is one token.
    maxTokens: maxTokens === undefined ? undefined : Math.max(1, maxTokens),
    stop: (stop ?? []).filter((text) => text !== ''),
  };
}

/** Begins a system block in which Claude Code tells its version; it is none of the model's business. */
const billingHeader = 'x-anthropic-billing-header:';

function textsOf(content: string | readonly MessagesBlock[]): string[] {
  const texts =
    typeof content === 'string' ? [content] : content.map((block) => (block.type === 'text' ? block.text : ''));
  return texts.filter((text) => text !== '' && !text.startsWith(billingHeader));
}

function blocksOf(content: string | MessagesBlock[], param: string, takesImages: boolean): TurnBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((block, at): TurnBlock[] => {
    if (block.type === 'thinking' || block.type === 'redacted_thinking') return [];
    // Cache hints would stand beside the CLI's own, of which there may be only so many.
    if (block.type === 'text') return [{ type: 'text', text: block.text }];
    if (block.type === 'image' && takesImages) return [{ type: 'image', source: block.source }];
    throw unsupportedInMessages(
      `${param}.${at}.type`,
      block.type === 'image' ? 'images' : `content of type '${block.type}'`,
    );
  });
}
