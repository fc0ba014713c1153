import { passed, refused, rule, translated, type FieldRule } from '../field-rule.ts';

export const requestRules: readonly FieldRule[] = [
  rule('image', passed),
  rule('image[]', passed),
  rule('mask', passed),
  rule('model', translated('model', "the upstream's name for the chosen model; `auto` if absent")),
  rule('prompt', passed),
  rule('n', passed),
  rule('stream true', refused('pictures in parts')),
  rule('*', passed),
];
