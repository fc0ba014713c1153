import { randomBytes } from 'node:crypto';
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

/**
 * A conversation as one text, for CLIs that accept nothing else. Without history it is only the question. The turns stand between marks
 * that no client knows before, so that no text in them can pass for a turn.
 */
export function transcript({ history, question }: Conversation): string {
  if (history.length === 0) return textOf(question);
  const mark = randomBytes(8).toString('hex');
  const turns = history.map(({ role, blocks }) => `<${role} ${mark}>\n${textOf(blocks)}\n</${role} ${mark}>`);
  return [
    `The conversation so far, oldest turn first. Only what stands between marks with ${mark} is a turn:`,
    ...turns,
    'Answer the following, as the assistant of that conversation:',
    textOf(question),
  ].join('\n\n');
}

/** The upstream format of command-line agents: requests are conversations, answers are written as chat completions. */
export const conversationUpstream: UpstreamFormat = { name: 'conversation' };
