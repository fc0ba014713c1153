import { type FieldRule, ignored, passed, rule, translated } from './field-rule.ts';

/** What becomes of the fields of a messages upstream's answer: for messages clients, then for chat clients. */
export const messagesAnswerRules: readonly FieldRule[] = [
  rule('id', translated('id', "the router's own"), translated('id', "the router's own")),
  rule(
    'model',
    translated('model', 'the name it is called by here'),
    translated('model', 'the name it is called by here'),
  ),
  rule('content[].text', passed, translated('choices[].message.content', 'texts are put together')),
  rule(
    'content[].text beside tool calls',
    passed,
    ignored(
      'a message with tool calls has no text in that format; a stream has sent it before it can know of the calls',
    ),
  ),
  rule('content[].citations', passed, ignored('the format has no place for them')),
  rule('content[].thinking', passed, translated('choices[].message.reasoning_content')),
  rule('content[].signature', passed, ignored('the format has no place for it')),
  rule('content[] redacted_thinking', passed, ignored('nobody but its maker can read it')),
  rule(
    'content[] tool_use',
    passed,
    translated('choices[].message.tool_calls[].function.arguments', 'the input as JSON text'),
  ),
  rule('content[] of other types', passed, ignored('results of tools that the upstream itself ran')),
  rule('stop_reason', passed, translated('choices[].finish_reason')),
  rule('stop_sequence', passed, ignored('the format does not tell it')),
  rule('stop_details.explanation', passed, translated('choices[].message.refusal')),
  rule('usage.input_tokens', passed, translated('usage.prompt_tokens', 'and what was cached')),
  rule('usage.output_tokens', passed, translated('usage.completion_tokens')),
  rule('usage.cache_read_input_tokens', passed, translated('usage.prompt_tokens_details.cached_tokens')),
  rule('usage.cache_creation_input_tokens', passed, translated('usage.prompt_tokens_details.cache_write_tokens')),
  rule(
    'usage.output_tokens_details.thinking_tokens',
    passed,
    translated('usage.completion_tokens_details.reasoning_tokens'),
  ),
  rule('*', passed, ignored('the format has no such field')),
];
