import type { MessagesBlock } from '#shared/formats/messages/request.ts';

/** Start of a system block with Claude Code's version, which is not meant for the model. */
const billingHeader = 'x-anthropic-billing-header:';

/** Returns the texts of system content, without empty texts and Claude Code's billing header. */
export function readSystemTexts(content: string | readonly MessagesBlock[]): string[] {
  const texts =
    typeof content === 'string' ? [content] : content.map((block) => (block.type === 'text' ? block.text : ''));
  return texts.filter((text) => text !== '' && !text.startsWith(billingHeader));
}
