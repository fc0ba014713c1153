import type { ImageBlock, TextBlock } from '#shared/formats/messages/request.ts';
import type { UpstreamFormat } from '../upstream-format.ts';

/** What a turn says or shows, as the messages format writes it. */
export type TurnBlock = TextBlock | ImageBlock;

/** One turn. A turn of the assistant is text only. */
export interface Turn {
  role: 'user' | 'assistant';
  blocks: TurnBlock[];
}

/** A request to a CLI, independent of the client format. */
export interface Conversation {
  /** One of the announced models. */
  model: string;
  /** All system text, joined; empty when there is none. */
  system: string;
  /** Earlier turns: user and assistant alternate, the user first and the assistant last. */
  history: Turn[];
  /** The last turn, which is the user's. */
  question: TurnBlock[];
  /** How much to think, from the client: `none`, `low`, `medium`, `high`, `xhigh`, `max`. */
  effort?: string | undefined;
  /** Limit of output tokens. */
  maxTokens?: number | undefined;
  /** Texts at which the answer ends. None is empty. */
  stop: string[];
}

/** The text of a turn's blocks. */
export function textOf(blocks: readonly TurnBlock[]): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n\n');
}

/** A conversation as one text, for CLIs that take nothing else. Without history it is the question alone. */
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

/** What drives a command-line agent: it is asked a `Conversation`, and its answer is written as chat completions. */
export const conversationUpstream: UpstreamFormat = { name: 'conversation' };
