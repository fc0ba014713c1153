import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

export interface ThinkingRequest {
  thinking: JsonObject & { type: string };
  effort?: string;
}

/**
 * Returns the `messages` format's thinking settings for a chat request; undefined if the request has none. `thinking`, a field of the
 * `messages` format, takes precedence. Then come the effort, the budget (`reasoning.max_tokens`), and the switches of `reasoning` and of
 * chat templates.
 */
export function readChatThinking(request: JsonObject): ThinkingRequest | undefined {
  const { thinking, reasoning_effort: effort, reasoning, chat_template_kwargs: template } = request;
  if (isJsonObject(thinking) && typeof thinking['type'] === 'string') {
    return { thinking: { ...thinking, type: thinking['type'] } };
  }
  const level = effort ?? (isJsonObject(reasoning) ? reasoning['effort'] : undefined);
  if (typeof level === 'string' || typeof level === 'number') return effortToThinking(level);
  const budget = readBudget(reasoning);
  if (budget !== undefined) {
    return { thinking: budget > 0 ? { type: 'enabled', budget_tokens: budget } : { type: 'disabled' } };
  }
  const enabled =
    readSwitch(reasoning) ??
    (isJsonObject(template) ? (template['enable_thinking'] ?? template['thinking']) : undefined);
  if (typeof enabled !== 'boolean') return undefined;
  return { thinking: { type: enabled ? 'adaptive' : 'disabled' } };
}

function effortToThinking(effort: string | number): ThinkingRequest {
  switch (effort) {
    case 'none':
    case 0:
      return { thinking: { type: 'disabled' } };
    case 'minimal':
      return { thinking: { type: 'adaptive' }, effort: 'low' };
    default:
      return { thinking: { type: 'adaptive' }, effort: typeof effort === 'number' ? shareToEffort(effort) : effort };
  }
}

/** An effort level that every upstream with efforts accepts. */
export type CommonEffort = 'low' | 'medium' | 'high';

/** Returns the effort level for a number between 0 and 1, the form in which SGLang also accepts efforts. */
export function shareToEffort(share: number): CommonEffort {
  if (share < 0.34) return 'low';
  return share < 0.67 ? 'medium' : 'high';
}

/**
 * Returns the effort of a chat request as a word; undefined if the request has none. The chat format's own fields take precedence over
 * `thinking`, a field of the `messages` format.
 */
export function readChatEffort({ reasoning_effort: effort, reasoning, thinking }: JsonObject): string | undefined {
  const level = effort ?? (isJsonObject(reasoning) ? reasoning['effort'] : undefined);
  if (typeof level === 'number') return level === 0 ? 'none' : shareToEffort(level);
  if (typeof level === 'string') return level;
  const budget = readBudget(reasoning);
  if (budget !== undefined) return budget > 0 ? budgetToEffort(budget) : 'none';
  if (readSwitch(reasoning) === false) return 'none';
  if (!isJsonObject(thinking) || typeof thinking['type'] !== 'string') return undefined;
  return thinkingToEffort({ ...thinking, type: thinking['type'] }, undefined);
}

/**
 * Returns the chat format's `reasoning_effort` for a `messages` request's `thinking`; undefined if the request has no `thinking`.
 * @param effort `output_config.effort`; the default for adaptive thinking is high, as in Anthropic's API
 */
export function thinkingToEffort(
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
      return budgetToEffort(thinking?.budget_tokens ?? 0);
    default:
      return effort ?? 'high';
  }
}

/** Returns the maximum number of thinking tokens, in the field of OpenRouter's clients. */
function readBudget(reasoning: Json | undefined): number | undefined {
  const budget = isJsonObject(reasoning) ? reasoning['max_tokens'] : undefined;
  return typeof budget === 'number' ? budget : undefined;
}

function readSwitch(reasoning: Json | undefined): boolean | undefined {
  const enabled = isJsonObject(reasoning) ? reasoning['enabled'] : undefined;
  return typeof enabled === 'boolean' ? enabled : undefined;
}

/** Returns the effort level for a thinking budget. */
export function budgetToEffort(tokens: number): CommonEffort {
  if (tokens <= 2048) return 'low';
  return tokens <= 8192 ? 'medium' : 'high';
}

/** Returns the thinking budget for an effort level, in tokens. The default level of the `messages` format is high. */
export function effortToBudget(effort = 'high'): number {
  switch (effort) {
    case 'minimal':
    case 'low':
      return 2048;
    case 'medium':
      return 8192;
    case 'high':
      return 16_384;
    default:
      return 32_768;
  }
}

/** Start of every signature that the router writes. */
export const ownSignature = 'model-router-';

/**
 * The signature of thinking from engines, which sign nothing. Messages clients send a thinking block back only if it has a signature, but
 * do not check the signature. Messages upstreams check signatures, so a block with this signature must not reach them.
 */
export const syntheticSignature = `${ownSignature}unsigned`;

/** Whether a signature is the router's own. */
export function isOwnSignature(signature: unknown): boolean {
  return typeof signature === 'string' && signature.startsWith(ownSignature);
}
