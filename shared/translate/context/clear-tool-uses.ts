import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type {
  MessagesBlock,
  MessagesMessage,
  MessagesRequest,
  ToolUseBlock,
} from '#shared/formats/messages/request.ts';
import { estimateHistoryTokens, type ContextEdit } from './context-edit.ts';

/** The defaults of an edit (Anthropic API guide, "Context editing"). */
const defaults = { triggerTokens: 100_000, kept: 3 };

const placeholder = 'The result of this call was removed to save context.';

/**
 * Applies the edit `clear_tool_uses_20250919` if the request is larger than the edit's `trigger`. Replaces the results of all tool calls
 * except the last ones by a short text. Also empties the inputs of those calls if `clear_tool_inputs` is true or names their tools.
 * @returns undefined if nothing is replaced
 */
export function clearToolUses(request: MessagesRequest, edit: JsonObject): ContextEdit | undefined {
  const { messages } = request;
  const calls = messages.flatMap(findCalls);
  if (!isTriggered(request, edit['trigger'], calls.length)) return undefined;
  const excluded = new Set(readNames(edit['exclude_tools']));
  const answeredIds = new Set(
    messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content.flatMap(readAnsweredId))),
  );
  const clearable = calls.filter(({ id, name }) => answeredIds.has(id) && !excluded.has(name));
  const kept = readAmount(edit['keep']) ?? defaults.kept;
  const clearedIds = new Set(clearable.slice(0, Math.max(0, clearable.length - kept)).map(({ id }) => id));
  if (clearedIds.size === 0) return undefined;
  const editedMessages = messages.map((message) => clearMessage(message, clearedIds, edit['clear_tool_inputs']));
  const minClearedTokens = readAmount(edit['clear_at_least']) ?? 0;
  if (
    minClearedTokens > 0 &&
    estimateHistoryTokens(request, messages) - estimateHistoryTokens(request, editedMessages) < minClearedTokens
  )
    return undefined;
  return { messages: editedMessages, cleared: { cleared_tool_uses: clearedIds.size } };
}

function isTriggered(request: MessagesRequest, trigger: Json | undefined, calls: number): boolean {
  const value = readAmount(trigger);
  if (isJsonObject(trigger) && trigger['type'] === 'tool_uses' && value !== undefined) return calls > value;
  return estimateHistoryTokens(request, request.messages) > (value ?? defaults.triggerTokens);
}

function clearMessage(
  message: MessagesMessage,
  clearedIds: ReadonlySet<string>,
  inputs: Json | undefined,
): MessagesMessage {
  const { content } = message;
  if (typeof content === 'string') return message;
  const clearsInput = (name: string): boolean => inputs === true || readNames(inputs).includes(name);
  const blocks = content.map((block): MessagesBlock => {
    if (block.type === 'tool_result' && clearedIds.has(block.tool_use_id)) return { ...block, content: placeholder };
    if (block.type === 'tool_use' && clearedIds.has(block.id) && clearsInput(block.name))
      return { ...block, input: {} };
    return block;
  });
  return { ...message, content: blocks };
}

function findCalls({ content }: MessagesMessage): ToolUseBlock[] {
  return typeof content === 'string' ? [] : content.filter((block) => block.type === 'tool_use');
}

function readAnsweredId(block: MessagesBlock): string[] {
  return block.type === 'tool_result' ? [block.tool_use_id] : [];
}

function readAmount(amount: Json | undefined): number | undefined {
  const value = isJsonObject(amount) ? amount['value'] : undefined;
  return typeof value === 'number' && value >= 0 ? value : undefined;
}

function readNames(names: Json | undefined): string[] {
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}
