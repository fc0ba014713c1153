import { ignored, passed, rule, translated, type FieldRule } from '../field-rule.ts';

export const requestRules: readonly FieldRule[] = [
  rule('model', translated('model', "the upstream's name for the chosen model")),
  rule('input', passed),
  rule('input[] of a long list', translated('input', 'divided among workers, and the answers joined in order')),
  rule('dimensions', translated('dimensions', 'also passed; refused if the vectors have other dimensions')),
  rule(
    'encoding_format',
    translated('encoding_format', 'also passed; the router converts vectors in another encoding'),
  ),
  rule('user', passed),
  rule('first_index', translated('data[].index', 'the number of the first vector; not sent')),
  rule('*', passed),
];

export const answerRules: readonly FieldRule[] = [
  rule('data[].embedding', translated('data[].embedding', 'in the encoding that the client asked for')),
  rule('data[].index', translated('data[].index', 'vectors are in the order of the inputs')),
  rule('model', translated('model', "the router's name for the model")),
  rule('usage.prompt_tokens', translated('usage.prompt_tokens', 'estimated if the upstream reports none')),
  rule('usage.total_tokens', translated('usage.total_tokens', 'the same as `prompt_tokens`')),
  rule('*', ignored('other fields differ from upstream to upstream')),
];
