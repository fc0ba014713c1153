import type { ImageBlock, TextBlock } from '#shared/formats/messages/request.ts';
import type { UpstreamFormat } from '../upstream-format.ts';
import type { ArrangedTurns } from './arrange-turns.ts';

/** A block of a turn, in the messages format. A turn of the assistant has only text. */
export type TurnBlock = TextBlock | ImageBlock;

/** A request to a command-line agent, independent of the client format. */
export interface Conversation extends ArrangedTurns<TurnBlock> {
  /** One of the announced models. */
  model: string;
  /** All system text, joined; empty if there is none. */
  system: string;
  /** The client's effort of thinking: `none`, `low`, `medium`, `high`, `xhigh` or `max`. */
  effort?: string | undefined;
  /** Limit of output tokens. */
  maxTokens?: number | undefined;
  /** Stop sequences. None is empty. */
  stop: string[];
}

/** The text of a turn's blocks. */
export function textOf(blocks: readonly TurnBlock[]): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n\n');
}

/** A conversation as one text, for CLIs that accept nothing else. Without history it is only the question. */
export function transcript({ history, question }: Conversation): string {
  if (history.length === 0) return textOf(question);
  const turns = history.map(({ role, blocks }) => `<${role}>\n${textOf(blocks)}\n</${role}>`);
  return [
    'The conversation so far, oldest turn first:',
    ...turns,
    'Answer the following, as the assistant of that conversation:',
    textOf(question),
  ].join('\n\n');
}

/** The upstream format of command-line agents: requests are conversations, answers are written as chat completions. */
export const conversationUpstream: UpstreamFormat = { name: 'conversation' };
