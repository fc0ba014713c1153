/** Fields of a chat request that become something else, or the same, in a messages request. */
export const translatedToMessages: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stop',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning_effort',
  'reasoning',
  'thinking',
  'chat_template_kwargs',
  'response_format',
  'user',
  'safety_identifier',
]);

/** Fields of a chat request that a messages upstream has nothing for, and that change nothing an answer is judged by. */
export const ignoredInMessages: ReadonlySet<string> = new Set([
  // The only value let in is the one that the messages family has.
  'n',
  // A stream of the messages family always tells its usage.
  'stream_options',
  // Sampling that the family does not have.
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'logit_bias',
  'min_p',
  'include_reasoning',
  'separate_reasoning',
  // Hints for one vendor's own platform.
  'metadata',
  'store',
  'service_tier',
  'prediction',
  'verbosity',
  'prompt_cache_key',
  'prompt_cache_retention',
  // `audio` in it is refused; text is what the family has.
  'modalities',
]);

/** Fields of a chat request that cannot be honoured by a messages upstream, and what they ask for. */
export const refusedInMessages: Readonly<Record<string, string>> = {
  logprobs: 'a wish for log probabilities',
  top_logprobs: 'a wish for log probabilities',
  functions: 'the older form of tools',
  function_call: 'the older form of tool choice',
  audio: 'a wish for audio output',
  web_search_options: 'a search that the upstream itself runs',
};
