import { RouterError } from '#shared/core/errors.ts';
import type { Conversation, Turn, TurnBlock } from './conversation.ts';

/**
 * Brings turns into the order that CLIs know: turns of one role that follow each other become one, empty ones go, and the
 * last one, which must be the user's, is the question.
 * @throws RouterError when nobody asks anything, or the answer is to go on from a beginning that the client gives
 */
export function arrangeTurns(turns: readonly Turn[]): Pick<Conversation, 'history' | 'question'> {
  const arranged: { role: Turn['role']; blocks: TurnBlock[] }[] = [];
  for (const { role, blocks } of turns) {
    const kept = blocks.filter((block) => block.type !== 'text' || block.text !== '');
    if (kept.length === 0) continue;
    const last = arranged.at(-1);
    if (last?.role === role) last.blocks.push(...kept);
    else arranged.push({ role, blocks: kept });
  }
  const last = arranged.pop();
  if (last?.role === 'assistant') {
    throw new RouterError(
      'unsupported_parameter',
      "Unsupported value for 'messages': the model that serves this request cannot go on with an answer that the client began.",
      { param: 'messages' },
    );
  }
  if (!last)
    throw new RouterError('invalid_request', 'There is no text by the user in messages.', { param: 'messages' });
  // No CLI takes a conversation that the assistant begins.
  if (arranged[0]?.role === 'assistant') arranged.unshift({ role: 'user', blocks: [{ type: 'text', text: '…' }] });
  return { history: arranged, question: last.blocks };
}
