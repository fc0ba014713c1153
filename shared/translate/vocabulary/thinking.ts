import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

export interface ThinkingRequest {
  thinking: JsonObject & { type: string };
  effort?: string;
}

/**
 * Returns the `messages` format's thinking settings for a chat request; undefined if the request has none. The field `thinking`, which is
 * of the `messages` format, takes precedence, then the effort, then a budget (`reasoning.max_tokens`), then the switches of `reasoning` and
 * chat templates.
 */
export function thinkingForChat(request: JsonObject): ThinkingRequest | undefined {
  const { thinking, reasoning_effort: effort, reasoning, chat_template_kwargs: template } = request;
  if (isJsonObject(thinking) && typeof thinking['type'] === 'string') {
    return { thinking: { ...thinking, type: thinking['type'] } };
  }
  const level = effort ?? (isJsonObject(reasoning) ? reasoning['effort'] : undefined);
  if (typeof level === 'string' || typeof level === 'number') return thinkingForEffort(level);
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

/** Returns the effort level for a number between 0 and 1, which SGLang accepts as an effort, too. */
function effortOfShare(share: number): string {
  if (share < 0.34) return 'low';
  return share < 0.67 ? 'medium' : 'high';
}

/**
 * Returns the effort of a chat request as a word; undefined if the request has none. The chat format's own fields take precedence over
 * `thinking`, a field of the `messages` format.
 */
export function effortForChat({ reasoning_effort: effort, reasoning, thinking }: JsonObject): string | undefined {
  const level = effort ?? (isJsonObject(reasoning) ? reasoning['effort'] : undefined);
  if (typeof level === 'number') return level === 0 ? 'none' : effortOfShare(level);
  if (typeof level === 'string') return level;
  const budget = readBudget(reasoning);
  if (budget !== undefined) return budget > 0 ? effortForBudget(budget) : 'none';
  if (readSwitch(reasoning) === false) return 'none';
  if (!isJsonObject(thinking) || typeof thinking['type'] !== 'string') return undefined;
  return effortForThinking({ ...thinking, type: thinking['type'] }, undefined);
}

/**
 * Returns the chat format's `reasoning_effort` for a `messages` request's `thinking`; undefined if the request has no `thinking`.
 * @param effort `output_config.effort`; the default for adaptive thinking is high, as in Anthropic's API
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
      return effortForBudget(thinking?.budget_tokens ?? 0);
    default:
      return effort ?? 'high';
  }
}

/** Returns the maximum tokens of thinking, as OpenRouter's clients send them. */
function readBudget(reasoning: Json | undefined): number | undefined {
  const budget = isJsonObject(reasoning) ? reasoning['max_tokens'] : undefined;
  return typeof budget === 'number' ? budget : undefined;
}

function readSwitch(reasoning: Json | undefined): boolean | undefined {
  const enabled = isJsonObject(reasoning) ? reasoning['enabled'] : undefined;
  return typeof enabled === 'boolean' ? enabled : undefined;
}

/** Returns the effort level for a thinking budget. */
export function effortForBudget(tokens: number): string {
  if (tokens <= 2048) return 'low';
  return tokens <= 8192 ? 'medium' : 'high';
}

/** Returns the thinking budget for an effort level, in tokens; high is the default of the `messages` format. */
export function budgetForEffort(effort = 'high'): number {
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
 * The signature of thinking from engines that sign nothing. Messages clients send a thinking block back only with a signature, which they
 * do not check. Messages upstreams check signatures, so a block with this signature must not reach them.
 */
export const syntheticSignature = `${ownSignature}unsigned`;

/** Whether the router signed a thinking block, for any upstream. */
export function isOwnSignature(signature: unknown): boolean {
  return typeof signature === 'string' && signature.startsWith(ownSignature);
}
