import type { ImageBlock, TextBlock } from '#shared/formats/messages/request.ts';

/** What a turn says or shows, as the messages format writes it. */
export type TurnBlock = TextBlock | ImageBlock;

/** One turn. An assistant's turn is text only. */
export interface Turn {
  role: 'user' | 'assistant';
  blocks: TurnBlock[];
}

/** A request as every CLI is asked it, whichever format the client speaks. */
export interface Conversation {
  /** One of the announced models. */
  model: string;
  /** All system text, put together; empty when there is none. */
  system: string;
  /** What was said before: user and assistant by turns, the user first and the assistant last. */
  history: Turn[];
  /** What the user says now. */
  question: TurnBlock[];
  /** How hard to think, as the client put it: `none`, `low`, `medium`, `high`, `xhigh`, `max`; absent when it does not say. */
  effort?: string | undefined;
  /** Tokens of output at most. */
  maxTokens?: number | undefined;
  /** Texts at which the answer ends; none of them is empty. */
  stop: string[];
}

/** The text of a turn's blocks. */
export function textOf(blocks: readonly TurnBlock[]): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n\n');
}
