import { passed, refused, rule, translated, type FieldRule } from '../field-rule.ts';

export const requestRules: readonly FieldRule[] = [
  rule('model', translated('model', "the upstream's name for the chosen model")),
  rule('input', passed),
  rule('voice', passed),
  rule('instructions', passed),
  rule('response_format', passed),
  rule('speed', passed),
  rule('stream_format sse', refused('sound as events')),
  rule('*', passed),
];

export const answerRules: readonly FieldRule[] = [rule('*', passed)];
