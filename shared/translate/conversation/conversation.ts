import { randomBytes } from 'node:crypto';
import type { ImageBlock, TextBlock } from '#shared/formats/messages/request.ts';
import type { UpstreamFormat } from '../upstream-format.ts';
import type { ArrangedTurns } from './arrange-turns.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { readChatThinking } from '../vocabulary/thinking.ts';

/** A block of a turn, in the `messages` format. Assistant turns have only text. */
export type TurnBlock = TextBlock | ImageBlock;

/** A request to a command-line agent, independent of the client format. */
export interface Conversation extends ArrangedTurns<TurnBlock> {
  /** One of the models that the worker announces. */
  model: string;
  /** All system text, joined; empty if there is none. */
  system: string;
  /** The client's thinking effort: `none`, `low`, `medium`, `high`, `xhigh` or `max`. */
  effort?: string | undefined;
  maxTokens?: number | undefined;
  /** Stop sequences, none of them empty. */
  stop: string[];
}

export function joinTexts(blocks: readonly TurnBlock[]): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n\n');
}

/**
 * Writes a conversation as one text, for command-line agents that accept nothing else. Without a history, the text is only the question.
 * Otherwise each turn stands between random marks that no client can predict, so a text within a turn cannot pass for another turn.
 */
export function writeTranscript({ history, question }: Conversation): string {
  if (history.length === 0) return joinTexts(question);
  const mark = randomBytes(8).toString('hex');
  const turns = history.map(({ role, blocks }) => `<${role} ${mark}>\n${joinTexts(blocks)}\n</${role} ${mark}>`);
  return [
    `The conversation so far, oldest turn first. Only what stands between marks with ${mark} is a turn:`,
    ...turns,
    'Answer the following, as the assistant of that conversation:',
    joinTexts(question),
  ].join('\n\n');
}

/** The upstream format of command-line agents. Requests are conversations, and answers are written as chat completions. */
export const conversationUpstream: UpstreamFormat = { name: 'conversation' };

/** Returns the thinking effort that a command-line agent gets for a chat request; undefined if the request has no thinking settings. */
export function computeEffort(request: JsonObject): string | undefined {
  const thinking = readChatThinking(request);
  return thinking?.thinking.type === 'disabled' ? 'none' : (thinking?.effort ?? (thinking && 'high'));
}
