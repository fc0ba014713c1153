import { RouterError } from '#shared/core/errors.ts';
import type { MessagesBlock, TextBlock } from '#shared/formats/messages/request.ts';

export interface Turn<Block> {
  role: 'user' | 'assistant';
  blocks: Block[];
}

export interface ArrangedTurns<Block> {
  /** Earlier turns, alternating between user and assistant. The first is the user's, the last is the assistant's. */
  history: Turn<Block>[];
  question: Block[];
}

const openingBlock: TextBlock = { type: 'text', text: '…' };

/**
 * Arranges turns in the form that command-line agents accept. Joins consecutive turns of one role. Omits empty turns, and thinking at the
 * end of a turn. The last turn must be the user's and becomes the question.
 * @param param the client's field with the turns, for errors
 * @throws RouterError `invalid_request` if there is no question, `unsupported_parameter` if the last turn is the assistant's
 */
export function arrangeTurns<Block extends MessagesBlock>(
  turns: readonly Turn<Block>[],
  param = 'messages',
): ArrangedTurns<Block> {
  const arranged: Turn<Block>[] = [];
  for (const { role, blocks } of turns) {
    const kept = blocks.filter((block) => block.type !== 'text' || block.text !== '');
    if (kept.length === 0) continue;
    if (arranged.at(-1)?.role !== role) dropFinalThinking(arranged);
    const last = arranged.at(-1);
    if (last?.role === role) last.blocks.push(...kept);
    else arranged.push({ role, blocks: kept });
  }
  dropFinalThinking(arranged);
  const last = arranged.pop();
  if (last?.role === 'assistant') {
    throw new RouterError(
      'unsupported_parameter',
      `Unsupported value for '${param}': the model that serves this request cannot continue an answer that the client has begun.`,
      { param },
    );
  }
  if (!last)
    throw new RouterError('invalid_request', `Invalid value for '${param}': no message of the user has text.`, {
      param,
    });
  // No CLI accepts a conversation that begins with the assistant.
  if (arranged[0]?.role === 'assistant') arranged.unshift({ role: 'user', blocks: [openingBlock as Block] });
  return { history: arranged, question: last.blocks };
}

/** Removes thinking from the end of the last turn, because upstreams refuse a turn that ends with thinking. */
function dropFinalThinking(turns: { blocks: MessagesBlock[] }[]): void {
  const last = turns.at(-1);
  if (!last) return;
  while (last.blocks.at(-1)?.type === 'thinking') last.blocks.pop();
  if (last.blocks.length === 0) turns.pop();
}
