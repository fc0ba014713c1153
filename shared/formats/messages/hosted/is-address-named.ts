import type { MessagesMessage } from '../request.ts';
import { isHostedResult } from './hosted-block.ts';
import { readHostedResultText } from './hosted-result-text.ts';

/**
 * Whether a web address occurs in a text that the model did not write: a text of the user, or the result of a client's tool, a search or a
 * fetch (Anthropic API reference, "Web fetch tool"). A model that chooses addresses freely could be tricked into leaking what it has read.
 */
export function isAddressNamed(messages: readonly MessagesMessage[], url: string): boolean {
  const urlInJson = JSON.stringify(url).slice(1, -1);
  return messages.some(({ role, content }) => {
    if (role !== 'assistant') return JSON.stringify(content).includes(urlInJson);
    return (
      typeof content !== 'string' &&
      content.some((block) => isHostedResult(block) && readHostedResultText(block).includes(url))
    );
  });
}
