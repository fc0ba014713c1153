import { passed, refused, rule, translated, type FieldRule } from '../field-rule.ts';

/** The effect on each field of a request to write down what is said. */
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

/** The effect on each field of what was said. */
export const answerRules: readonly FieldRule[] = [
  rule('text', passed),
  rule('usage', passed),
  rule('duration', passed),
  rule('segments[]', passed),
  rule('*', passed),
];
