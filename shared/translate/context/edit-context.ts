import { isJsonObject, type JsonObject, type Json } from '#shared/core/json.ts';
import type {
  MessagesMessage,
  MessagesRequest,
  MessagesBlock,
  ToolUseBlock,
} from '#shared/formats/messages/request.ts';
import { expandSummary } from './expand-summary.ts';
import { computeMessagesNeeds } from '#shared/formats/messages/needs.ts';

export interface EditedContext {
  messages: MessagesMessage[];
  /**
   * The edits that changed the history, as `context_management.applied_edits` of the answer reports them; undefined if the request has no
   * edits.
   */
  applied: JsonObject[] | undefined;
}

/**
 * Applies `context_management.edits` (Anthropic API guide, "Context editing") in order, for upstreams that do not apply them. Token counts
 * are estimates. Edits of other types change nothing: `compact_20260112`, for example, would need a summary that a model writes.
 */
export function editContext(request: MessagesRequest): EditedContext {
  const { context_management: management } = request;
  const edits = isJsonObject(management) ? management['edits'] : undefined;
  if (!Array.isArray(edits)) return { messages: request.messages, applied: undefined };
  let { messages } = request;
  const applied: JsonObject[] = [];
  for (const edit of edits) {
    const type = isJsonObject(edit) ? edit['type'] : undefined;
    const edited =
      isJsonObject(edit) && typeof type === 'string' ? applyEdit({ ...request, messages }, type, edit) : undefined;
    if (!edited) continue;
    const clearedTokens = estimateHistoryTokens(request, messages) - estimateHistoryTokens(request, edited.messages);
    applied.push({ type: type ?? '', ...edited.cleared, cleared_input_tokens: clearedTokens });
    messages = edited.messages;
  }
  return { messages, applied };
}

/** Returns the edits that apply to a request, for `Translation.recall`, because the answer reports these edits. */
export function computeAppliedEdits(body: JsonObject): JsonObject {
  return { applied_edits: editContext(expandSummary(body as MessagesRequest)).applied };
}

/** Creates the answer fields that report the applied edits; no fields if the request has no edits. */
export function createEditReport(recalled: JsonObject | undefined): JsonObject {
  const applied = recalled?.['applied_edits'];
  return applied === undefined ? {} : { context_management: { applied_edits: applied } };
}

/** Applies one edit. Returns undefined if the edit changes nothing. */
function applyEdit(request: MessagesRequest, type: string, edit: JsonObject): ContextEdit | undefined {
  switch (type) {
    case 'clear_thinking_20251015':
      return clearThinking(request.messages, edit);
    case 'clear_tool_uses_20250919':
      return clearToolUses(request, edit);
    default:
      return undefined;
  }
}

/** Number of turns that keep their thinking, if the edit gives no number. */
const defaultKept = 1;

/**
 * Applies the edit `clear_thinking_20251015`, which removes thinking from all turns except the last turns with thinking. A turn reaches
 * from one text of the user to the next, so a round of tool calls keeps the thinking before it.
 * @returns undefined if nothing is removed
 */
function clearThinking(messages: readonly MessagesMessage[], { keep }: JsonObject): ContextEdit | undefined {
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

/** The defaults of an edit (Anthropic API guide, "Context editing"). */
const defaults = { triggerTokens: 100_000, kept: 3 };

const placeholder = 'The result of this call was removed to save context.';

/**
 * Applies the edit `clear_tool_uses_20250919` if the request is larger than the edit's `trigger`. Replaces the results of all tool calls
 * except the last ones by a short text. Also empties the inputs of those calls if `clear_tool_inputs` is true or names their tools.
 * @returns undefined if nothing is replaced
 */
function clearToolUses(request: MessagesRequest, edit: JsonObject): ContextEdit | undefined {
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

/** The result of an edit. */
interface ContextEdit {
  /** The messages after the edit. */
  messages: MessagesMessage[];
  /** The number of cleared turns or calls, under the name of its field in the answer. */
  cleared: JsonObject;
}

/** Estimates the input tokens of the request with this history. */
function estimateHistoryTokens(request: MessagesRequest, messages: MessagesMessage[]): number {
  return computeMessagesNeeds({ ...request, messages }).inputTokens;
}
