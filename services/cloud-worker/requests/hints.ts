/** Hints for OpenAI's own platform: where to keep, bill, cache or rank a request, and how wordy an answer should be. */
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

/** Sampling and switches that only engines with weights at hand know. Clients that run on these send them always. */
export const engineHints: readonly string[] = [
  'top_k',
  'min_p',
  'repetition_penalty',
  'include_reasoning',
  'separate_reasoning',
  'chat_template_kwargs',
];
