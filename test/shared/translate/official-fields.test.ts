import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { translations } from '#shared/translate/translations.ts';

/** The names of all fields of a type. A field that a later version of the SDK adds fails the type check. */
type Names<T> = Record<keyof T, true>;

const chat: Names<OpenAI.ChatCompletionCreateParamsNonStreaming> = {
  messages: true,
  model: true,
  audio: true,
  frequency_penalty: true,
  function_call: true,
  functions: true,
  logit_bias: true,
  logprobs: true,
  max_completion_tokens: true,
  max_tokens: true,
  metadata: true,
  modalities: true,
  moderation: true,
  n: true,
  parallel_tool_calls: true,
  prediction: true,
  presence_penalty: true,
  prompt_cache_key: true,
  prompt_cache_options: true,
  prompt_cache_retention: true,
  reasoning_effort: true,
  response_format: true,
  safety_identifier: true,
  seed: true,
  service_tier: true,
  stop: true,
  store: true,
  stream: true,
  stream_options: true,
  temperature: true,
  tool_choice: true,
  tools: true,
  top_logprobs: true,
  top_p: true,
  user: true,
  verbosity: true,
  web_search_options: true,
};
/** The SDK sends these as headers. */
type HeaderFields = 'user_profile_id' | 'workspace_id';
const messages: Names<Omit<Anthropic.MessageCreateParamsNonStreaming, HeaderFields>> = {
  max_tokens: true,
  messages: true,
  model: true,
  cache_control: true,
  container: true,
  diagnostics: true,
  inference_geo: true,
  metadata: true,
  output_config: true,
  service_tier: true,
  speed: true,
  stop_sequences: true,
  stream: true,
  system: true,
  thinking: true,
  tool_choice: true,
  tools: true,
};
const responses: Names<OpenAI.Responses.ResponseCreateParamsNonStreaming> = {
  access_programs: true,
  background: true,
  background_options: true,
  context_management: true,
  conversation: true,
  image: true,
  include: true,
  input: true,
  instructions: true,
  max_output_tokens: true,
  max_tool_calls: true,
  metadata: true,
  model: true,
  moderation: true,
  parallel_tool_calls: true,
  previous_response_id: true,
  prompt: true,
  prompt_cache_key: true,
  prompt_cache_options: true,
  prompt_cache_retention: true,
  reasoning: true,
  safety_identifier: true,
  service_tier: true,
  store: true,
  stream: true,
  stream_options: true,
  temperature: true,
  text: true,
  tool_choice: true,
  tools: true,
  top_logprobs: true,
  top_p: true,
  truncation: true,
  user: true,
};

const official: Record<string, Record<string, true>> = { chat, messages, responses };
const ruled = translations.filter(({ client, requestRules }) => client.name in official && requestRules);

describe.each(ruled.map((each) => [each.client.name, each.upstream.name, each] as const))(
  "the rules for a %s client's request to a %s upstream",
  (client, _, { requestRules = [] }) => {
    it('name every field of the official types', () => {
      const named = new Set(requestRules.map(({ field }) => /^\w+/.exec(field)?.[0]));
      expect(Object.keys(official[client] ?? {}).filter((field) => !named.has(field))).toEqual([]);
    });
  },
);
