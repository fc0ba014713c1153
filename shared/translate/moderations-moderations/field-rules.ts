import { ignored, passed, rule, translated, type FieldRule } from '../field-rule.ts';

export const requestRules: readonly FieldRule[] = [
  rule('model', translated('model', "the upstream's name for the chosen model; `auto` if absent")),
  rule('input', passed),
  rule('*', passed),
];

export const answerRules: readonly FieldRule[] = [
  rule('id', translated('id', "the router's id")),
  rule('model', translated('model', "the router's name for the model")),
  rule('results[]', passed),
  rule('usage', ignored('the moderations format has no usage; the usage ledger has the count')),
  rule('*', passed),
];
