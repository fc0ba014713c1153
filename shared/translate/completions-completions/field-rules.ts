import { passed, rule, translated, type FieldRule } from '../field-rule.ts';

export const requestRules: readonly FieldRule[] = [
  rule('model', translated('model', "the upstream's name for the chosen model")),
  rule('prompt', passed),
  rule('prompt of several texts, or of tokens', passed),
  rule('suffix', passed),
  rule('max_tokens', passed),
  rule('temperature', passed),
  rule('top_p', passed),
  rule('stop', passed),
  rule('seed', passed),
  rule('frequency_penalty', passed),
  rule('presence_penalty', passed),
  rule('logit_bias', passed),
  rule('stream', translated('stream_options.include_usage', 'also passed; streams always report their usage')),
  rule('stream_options', passed),
  rule('n', passed),
  rule('best_of', passed),
  rule('echo', passed),
  rule('logprobs', passed),
  rule('user', passed),
  rule('*', passed),
];

export const answerRules: readonly FieldRule[] = [
  rule('id', translated('id', "the router's id")),
  rule('model', translated('model', "the router's name for the model")),
  rule('created', translated('created', "the router's clock")),
  rule('choices[].text', passed),
  rule('choices[].finish_reason', translated('choices[].finish_reason', '`stop`, `length` or `content_filter`')),
  rule(
    'choices[].logprobs',
    translated('choices[].logprobs', 'in the completions format, even if llama.cpp sends the chat format'),
  ),
  rule('usage.prompt_tokens', passed),
  rule('usage.completion_tokens', passed),
  rule('*', passed),
];
