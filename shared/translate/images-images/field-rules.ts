import { passed, refused, rule, translated, type FieldRule } from '../field-rule.ts';

export const requestRules: readonly FieldRule[] = [
  rule('model', translated('model', "the upstream's name for the chosen model; `auto` if absent")),
  rule('prompt', passed),
  rule('n', passed),
  rule('size', passed),
  rule('quality', passed),
  rule('background', passed),
  rule('output_format', passed),
  rule('response_format', passed),
  rule('stream', refused('pictures in parts')),
  rule('user', passed),
  rule('*', passed),
];

export const answerRules: readonly FieldRule[] = [
  rule('created', translated('created', "the router's clock if the upstream has none")),
  rule('data[].b64_json', passed),
  rule('data[].url', passed),
  rule('usage', passed),
  rule('*', passed),
];
