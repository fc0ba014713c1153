import type { MessagesBlock } from './request.ts';

/** Returns the texts of system content, without empty texts and Claude Code's billing header. */
export function readSystemTexts(content: string | readonly MessagesBlock[]): string[] {
  const texts =
    typeof content === 'string' ? [content] : content.map((block) => (block.type === 'text' ? block.text : ''));
  return texts.filter((text) => text !== '' && !isBillingHeader(text));
}

const billingHeader = 'x-anthropic-billing-header:';

/**
 * Whether a system text is Claude Code's version, which is not meant for the model. It may differ between requests of one conversation, so
 * it would defeat prefix caches.
 */
export function isBillingHeader(text: string): boolean {
  return text.startsWith(billingHeader);
}
