import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** How hard a messages upstream is asked to think. */
export interface ThinkingRequest {
  thinking: JsonObject & { type: string };
  effort?: string;
}

/**
 * What a chat request's wish to think is in the messages format; undefined when it has none. A chat client that knows the
 * other format's `thinking` may send that; otherwise the effort counts, then the switches of chat templates.
 */
export function thinkingForChat(request: JsonObject): ThinkingRequest | undefined {
  const { thinking, reasoning_effort: effort, reasoning, chat_template_kwargs: template } = request;
  if (isJsonObject(thinking) && typeof thinking['type'] === 'string') {
    return { thinking: { ...thinking, type: thinking['type'] } };
  }
  const asked = effort ?? (isJsonObject(reasoning) ? reasoning['effort'] : undefined);
  if (typeof asked === 'string' || typeof asked === 'number') return thinkingForEffort(asked);
  const enabled = isJsonObject(template) ? (template['enable_thinking'] ?? template['thinking']) : undefined;
  if (typeof enabled !== 'boolean') return undefined;
  return { thinking: { type: enabled ? 'adaptive' : 'disabled' } };
}

function thinkingForEffort(effort: string | number): ThinkingRequest {
  switch (effort) {
    case 'none':
    case 0:
      return { thinking: { type: 'disabled' } };
    case 'minimal':
      return { thinking: { type: 'adaptive' }, effort: 'low' };
    default:
      return { thinking: { type: 'adaptive' }, effort: typeof effort === 'number' ? effortOfShare(effort) : effort };
  }
}

/** SGLang also takes the effort as a share between 0 and 1. */
function effortOfShare(share: number): string {
  if (share < 0.34) return 'low';
  return share < 0.67 ? 'medium' : 'high';
}

/**
 * The chat format's `reasoning_effort` for a messages request's `thinking`; undefined when it says nothing.
 * @param effort `output_config.effort`; where thinking is adaptive, the API's own default is high
 */
export function effortForThinking(
  thinking: (JsonObject & { type: string; budget_tokens?: number }) | null | undefined,
  effort: string | null | undefined,
): string | undefined {
  switch (thinking?.type) {
    case undefined:
      return undefined;
    case 'disabled':
    case 'between_tools':
      return 'none';
    case 'enabled':
      return effortOfBudget(thinking?.budget_tokens ?? 0);
    default:
      return effort ?? 'high';
  }
}

function effortOfBudget(tokens: number): string {
  if (tokens <= 2048) return 'low';
  return tokens <= 8192 ? 'medium' : 'high';
}

/**
 * Signs thinking that comes from an engine which signs nothing. Clients of the messages format send a thinking block back
 * only with a signature, and do not look into it. Real upstreams of the format check it, so a block with this one must not
 * reach them.
 */
export const syntheticSignature = 'model-router-unsigned';

/** Whether a thinking block was signed here. */
export function isSyntheticSignature(signature: unknown): boolean {
  return signature === syntheticSignature;
}
