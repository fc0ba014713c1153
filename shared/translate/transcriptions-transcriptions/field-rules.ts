import { passed, refused, rule, translated, type FieldRule } from '../field-rule.ts';

export const requestRules: readonly FieldRule[] = [
  rule('file', passed),
  rule('model', translated('model', "the upstream's name for the chosen model")),
  rule('language', passed),
  rule('prompt', passed),
  rule('response_format', passed),
  rule('timestamp_granularities[]', passed),
  rule('stream true', refused('a text in parts')),
  rule('*', passed),
];

export const answerRules: readonly FieldRule[] = [
  rule('text', passed),
  rule('usage', passed),
  rule('duration', passed),
  rule('segments[]', passed),
  rule('*', passed),
];
