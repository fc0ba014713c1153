import { ignored, passed, refused, rule, translated, type FieldRule } from '../field-rule.ts';

export const requestRules: readonly FieldRule[] = [
  rule('model', translated('model', "the upstream's name for the chosen model")),
  rule('prompt', translated('input_prefix')),
  rule('prompt of several texts, or of tokens', refused('several prompts, or tokens, with a suffix')),
  rule('suffix', translated('input_suffix')),
  rule('max_tokens', translated('n_predict')),
  rule('temperature', passed),
  rule('top_p', passed),
  rule('stop', translated('stop', 'always a list')),
  rule('seed', passed),
  rule('frequency_penalty', passed),
  rule('presence_penalty', passed),
  rule('logit_bias', passed),
  rule('stream', passed),
  rule('stream_options', ignored('streams of this path always report their usage')),
  rule('n', refused('more than one answer')),
  rule('best_of', refused('more than one answer')),
  rule('echo', refused('the prompt in the answer, with a suffix')),
  rule('logprobs', refused('log probabilities, with a suffix')),
  rule('user', ignored('a local engine knows no users')),
  rule('*', passed),
];

export const answerRules: readonly FieldRule[] = [
  rule('content', translated('choices[].text')),
  rule('stop_type', translated('choices[].finish_reason', '`length` for a limit, otherwise `stop`')),
  rule('tokens_evaluated', translated('usage.prompt_tokens')),
  rule('tokens_cached', ignored('the field counts the tokens that are in the cache after the request')),
  rule('tokens_predicted', translated('usage.completion_tokens')),
  rule('*', ignored('other fields describe the settings of the engine')),
];
