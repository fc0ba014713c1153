import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { changeDeveloperToSystem, mapMessages, renameThinking } from '#shared/upstream/chat-messages.ts';

/**
 * Changes of chat requests for a provider that refuses some fields that clients send. Only hints are dropped, because they do not affect
 * the correctness of an answer. Fields that would change the answer are sent, and the provider refuses them by name.
 */
export interface RequestRules {
  /**
   * The only field from which the provider reads the limit of output tokens. If a request has both fields, `max_completion_tokens` wins.
   */
  maxTokens?: 'max_tokens' | 'max_completion_tokens';
  /** The provider's names of fields, by the usual names of these fields. */
  rename?: Readonly<Record<string, string>>;
  drop?: readonly string[];
  /** Whether the role `developer` becomes `system`. */
  changeDeveloperToSystem?: boolean;
  /** Field in which the thinking of earlier answers is sent; `none` drops this thinking. By default, this thinking is sent unchanged. */
  replayedThinking?: 'none' | 'reasoning' | 'reasoning_content';
}

/** A change of chat requests that the rules cannot express. */
export interface Adaptation {
  /** Effect of the change, for the table of providers in docs/agents-and-providers.md. */
  readonly description: string;
  /** Returns a changed copy of a request to which the rules were applied. */
  readonly apply: (request: JsonObject, model: ModelInfo) => JsonObject;
}

/** Hints for OpenAI's own platform: how to store, bill, cache or prioritize a request, and how verbose an answer should be. */
export const platformHints: readonly string[] = [
  'store',
  'metadata',
  'service_tier',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prediction',
  'verbosity',
];

/** Sampling parameters and switches of local engines. Clients that are made for such engines send these fields to every provider. */
export const engineHints: readonly string[] = [
  'top_k',
  'min_p',
  'repetition_penalty',
  'include_reasoning',
  'separate_reasoning',
  'chat_template_kwargs',
];

/** Returns a copy of a request to which the rules are applied. */
export function applyRules(input: JsonObject, rules: RequestRules): JsonObject {
  const request = { ...input };
  if (rules.maxTokens !== undefined) {
    const limit = request.max_completion_tokens ?? request.max_tokens;
    delete request.max_completion_tokens;
    delete request.max_tokens;
    if (limit !== undefined && limit !== null) request[rules.maxTokens] = limit;
  }
  for (const [name, providersName] of Object.entries(rules.rename ?? {})) {
    if (request[name] !== undefined) request[providersName] ??= request[name];
    delete request[name];
  }
  for (const name of rules.drop ?? []) delete request[name];
  return applyToMessages(request, rules);
}

function applyToMessages(request: JsonObject, { changeDeveloperToSystem: asSystem, replayedThinking }: RequestRules) {
  if (asSystem !== true && replayedThinking === undefined) return request;
  return mapMessages(request, (message) => {
    const renamedMessage = asSystem === true ? changeDeveloperToSystem(message) : message;
    if (replayedThinking === undefined) return renamedMessage;
    return renameThinking(renamedMessage, replayedThinking === 'none' ? [] : [replayedThinking]);
  });
}

/** Values of `service_tier` that cost the listed price or less. */
const usualTiers = new Set(['auto', 'default', 'flex', 'on_demand', 'standard', 'standard_only']);

/**
 * Returns the request without a `service_tier` that may cost more than the listed price. Does not change `request`.
 * @param allowedTiers values with a higher price that clients may use
 */
export function dropCostlyTier(request: JsonObject, allowedTiers: readonly string[]): JsonObject {
  const { service_tier: tier } = request;
  if (typeof tier !== 'string' || usualTiers.has(tier) || allowedTiers.includes(tier)) return request;
  const { service_tier: _, ...rest } = request;
  return rest;
}

/**
 * Limits `reasoning_effort` to values that the model accepts. For a model without thinking, the field is removed, because the model would
 * refuse it. Levels that only the newest models of two vendors support become `high`.
 */
export const limitedEffort: Adaptation = {
  description: '`reasoning_effort` up to `high`, and only for models that think',
  apply: (request: JsonObject, { capabilities }: ModelInfo) => limitEffort(request, capabilities.includes('thinking')),
};

/** @param takesEffort whether the model accepts `reasoning_effort` */
export function limitEffort(request: JsonObject, takesEffort: boolean): JsonObject {
  const { reasoning_effort: effort, ...rest } = request;
  if (!takesEffort || effort === undefined || effort === null) return rest;
  return { ...rest, reasoning_effort: effort === 'xhigh' || effort === 'max' ? 'high' : effort };
}
