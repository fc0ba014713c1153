import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { MessagesBlock, MessagesMessage } from '#shared/formats/messages/request.ts';
import type { ContextEdit } from './context-edit.ts';

/** Number of turns that keep their thinking, if the edit gives no number. */
const defaultKept = 1;

/**
 * Applies the edit `clear_thinking_20251015`, which removes thinking from all turns except the last turns with thinking. A turn reaches
 * from one text of the user to the next, so a round of tool calls keeps the thinking before it.
 * @returns undefined if nothing is removed
 */
export function clearThinking(messages: readonly MessagesMessage[], { keep }: JsonObject): ContextEdit | undefined {
  const keptTurns = readKeptTurns(keep);
  const turns = numberTurns(messages);
  const thinkingTurns = [...new Set(turns.filter((_, index) => messages[index] && hasThinking(messages[index])))];
  const cleared = new Set(thinkingTurns.slice(0, Math.max(0, thinkingTurns.length - keptTurns)));
  if (cleared.size === 0) return undefined;
  return {
    messages: messages.flatMap((message, index) =>
      cleared.has(turns[index] ?? -1) ? removeThinking(message) : [message],
    ),
    cleared: { cleared_thinking_turns: cleared.size },
  };
}

function readKeptTurns(keep: JsonObject[string]): number {
  if (keep === 'all' || (isJsonObject(keep) && keep['type'] === 'all')) return Number.POSITIVE_INFINITY;
  const value = isJsonObject(keep) ? keep['value'] : undefined;
  return typeof value === 'number' && value >= 1 ? value : defaultKept;
}

/** Returns, for each message, the number of its turn. */
function numberTurns(messages: readonly MessagesMessage[]): number[] {
  let turn = 0;
  return messages.map(({ role, content }) => {
    const beginsTurn =
      role === 'user' && (typeof content === 'string' || content.some(({ type }) => type !== 'tool_result'));
    if (beginsTurn) turn += 1;
    return turn;
  });
}

function hasThinking({ role, content }: MessagesMessage): boolean {
  return role === 'assistant' && typeof content !== 'string' && content.some(isThinking);
}

/** Removes thinking, and the whole message if nothing else is in it. */
function removeThinking(message: MessagesMessage): MessagesMessage[] {
  if (!hasThinking(message) || typeof message.content === 'string') return [message];
  const content = message.content.filter((block) => !isThinking(block));
  return content.length === 0 ? [] : [{ ...message, content }];
}

function isThinking({ type }: MessagesBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}
