import type { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { requestsFeature } from '#shared/formats/request-feature.ts';
import { createHash } from 'node:crypto';

/** The top-level fields of requests in one client format. */
export interface RequestFields {
  /** All fields of the format. A translation to another format sends only further fields unchanged. */
  known: ReadonlySet<string>;
  /** The features that upstreams of all other formats refuse, by the field that requests the feature. */
  refused: ReadonlyMap<string, string>;
}

export const chatFields: RequestFields = {
  known: listNames(`
    model messages tools tool_choice parallel_tool_calls functions function_call stream stream_options n stop
    max_tokens max_completion_tokens temperature top_p top_k min_p seed frequency_penalty presence_penalty
    repetition_penalty logit_bias logprobs top_logprobs reasoning_effort reasoning thinking chat_template_kwargs
    include_reasoning separate_reasoning response_format verbosity modalities audio prediction web_search_options
    user safety_identifier metadata store service_tier moderation
    prompt_cache_key prompt_cache_retention prompt_cache_options
  `),
  refused: new Map([
    ['audio', 'audio output'],
    ['logprobs', 'log probabilities'],
    ['top_logprobs', 'log probabilities'],
    ['functions', 'the older form of tools'],
    ['function_call', 'the older form of tool choice'],
    ['web_search_options', 'web searches by the upstream'],
  ]),
};

export const messagesFields: RequestFields = {
  known: listNames(`
    model system messages tools tool_choice stream max_tokens temperature top_p top_k stop_sequences
    thinking output_config output_format metadata context_management compaction cache_control
    service_tier speed inference_geo fallbacks diagnostics betas billing_policy fallback_credit_token safeguards
    mcp_servers container thread
  `),
  refused: new Map([
    ['compaction', 'a request for a summary in place of an answer'],
    ['mcp_servers', 'MCP servers that the upstream connects to'],
    ['container', 'a container on the upstream'],
    ['thread', 'conversations stored on the server'],
  ]),
};

export const responsesFields: RequestFields = {
  known: listNames(`
    model instructions input tools tool_choice parallel_tool_calls max_tool_calls stream stream_options
    max_output_tokens temperature top_p top_logprobs reasoning text include image truncation context_management
    user safety_identifier metadata client_metadata service_tier moderation access_programs
    prompt_cache_key prompt_cache_retention prompt_cache_options
    store previous_response_id conversation prompt background background_options
  `),
  refused: new Map([
    ['conversation', 'conversations stored on the server'],
    ['prompt', 'prompts stored on the server'],
  ]),
};

function listNames(names: string): ReadonlySet<string> {
  return new Set(names.trim().split(/\s+/));
}

/** @throws the created error for a refused field that requests its feature */
export function refuseFeatures(
  request: JsonObject,
  refused: ReadonlyMap<string, string>,
  createError: (field: string, feature: string) => RouterError,
): void {
  for (const [field, feature] of refused) {
    if (requestsFeature(request[field])) throw createError(field, feature);
  }
}

/** Copies the fields that the client's format does not have, which are sent unchanged. The upstream ignores or refuses unknown fields. */
export function copyFurtherFields(request: JsonObject, { known }: RequestFields): JsonObject {
  // A copy by spread keeps numbers exactly as received, see `parseExact`.
  const rest: JsonObject = { ...request };
  for (const field of Object.keys(rest)) if (known.has(field)) delete rest[field];
  return rest;
}

/** Returns a hash that identifies a user to the upstream without a name. */
export function computePseudonym(user: string): string {
  return createHash('sha256').update(user).digest('hex');
}

/**
 * Fields of a Responses request that name or store content in the operator's account with the provider (OpenAI API reference, "Create a
 * model response"). All users of the account share that content, so clients of other formats must not send these fields unchecked.
 */
const accountFields = ['previous_response_id', 'conversation', 'prompt', 'background'] as const;

/** Returns the first of these fields in a request of another format; undefined if the request sets none. */
export function findAccountField(request: JsonObject): string | undefined {
  return accountFields.find((field) => {
    const value = request[field];
    return value !== undefined && value !== null && value !== false;
  });
}
