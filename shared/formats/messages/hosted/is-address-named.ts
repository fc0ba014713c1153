import type { MessagesMessage } from '../request.ts';
import { isHostedResult } from './hosted-block.ts';
import { readHostedResultText } from './hosted-result-text.ts';

/**
 * Whether anybody but the model has named a web address, namely the user, a tool of the client, or a search or fetch (Anthropic API
 * reference, "Web fetch tool"). A model that chooses addresses freely could be tricked into sending out what it reads.
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
