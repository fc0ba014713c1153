import { ignored, passed, rule, translated, type FieldRule } from '../field-rule.ts';

export const requestRules: readonly FieldRule[] = [
  rule('model', translated('model', "the upstream's name for the chosen model")),
  rule('query', passed),
  rule('documents[]', passed),
  rule('top_n', translated('top_n', 'at most the number of documents; the router removes further results')),
  rule('return_documents', translated('results[].document.text', 'added by the router; not sent')),
  rule('*', passed),
];

export const answerRules: readonly FieldRule[] = [
  rule('id', translated('id', "the router's id")),
  rule('model', translated('model', "the router's name for the model")),
  rule('results[].index', translated('results[].index', 'results are in the order of their scores, the best first')),
  rule('results[].relevance_score', passed),
  rule('results[].document', translated('results[].document.text', 'as in the request, if `return_documents` is true')),
  rule('usage.prompt_tokens', translated('usage.prompt_tokens', 'estimated if the upstream reports none')),
  rule('usage.total_tokens', translated('usage.total_tokens', 'the same as `prompt_tokens`')),
  rule('*', ignored('other fields differ from upstream to upstream')),
];
