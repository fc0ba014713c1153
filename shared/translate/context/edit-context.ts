import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { MessagesMessage, MessagesRequest } from '#shared/formats/messages/request.ts';
import { afterSummary } from './after-summary.ts';
import { clearThinking } from './clear-thinking.ts';
import { clearToolUses } from './clear-tool-uses.ts';
import { tokensOf, type ContextEdit } from './context-edit.ts';

/** A history after the edits that a request asks for. */
export interface EditedContext {
  messages: MessagesMessage[];
  /** The edits that changed it, as `context_management.applied_edits` of the answer lists them; undefined if none was asked for. */
  applied: JsonObject[] | undefined;
}

/**
 * Applies `context_management.edits` (Anthropic API guide, "Context editing") in their order, for upstreams that do not do it
 * themselves. Tokens are estimated. Edits of other types, such as `compact_20260112`, change nothing: a model would have to
 * write the summary.
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
      isJsonObject(edit) && typeof type === 'string' ? editOnce({ ...request, messages }, type, edit) : undefined;
    if (!edited) continue;
    const clearedTokens = tokensOf(request, messages) - tokensOf(request, edited.messages);
    applied.push({ type: type ?? '', ...edited.cleared, cleared_input_tokens: clearedTokens });
    messages = edited.messages;
  }
  return { messages, applied };
}

/** Keeps the edits of a request for its answer, which reports them. */
export function recallEdits(body: JsonObject): JsonObject {
  return { applied_edits: editContext(afterSummary(body as MessagesRequest)).applied };
}

/** The fields by which an answer reports the edits; none if the request asks for none. */
export function reportOfEdits(recalled: JsonObject | undefined): JsonObject {
  const applied = recalled?.['applied_edits'];
  return applied === undefined ? {} : { context_management: { applied_edits: applied } };
}

/** What an edit does; undefined for nothing. */
function editOnce(request: MessagesRequest, type: string, edit: JsonObject): ContextEdit | undefined {
  switch (type) {
    case 'clear_thinking_20251015':
      return clearThinking(request.messages, edit);
    case 'clear_tool_uses_20250919':
      return clearToolUses(request, edit);
    default:
      return undefined;
  }
}
