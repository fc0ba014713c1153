import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { MessagesMessage, MessagesRequest } from '#shared/formats/messages/request.ts';
import { expandSummary } from './expand-summary.ts';
import { clearThinking } from './clear-thinking.ts';
import { clearToolUses } from './clear-tool-uses.ts';
import { estimateHistoryTokens, type ContextEdit } from './context-edit.ts';

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
