import { type FieldRule, ignored, passed, rule, translated } from './field-rule.ts';

/** What becomes of the fields of a chat upstream's answer: for chat clients, then for messages clients. */
export const chatAnswerRules: readonly FieldRule[] = [
  rule('id', translated('id', "the router's own"), translated('id', "the router's own")),
  rule(
    'model',
    translated('model', 'the name it is called by here'),
    translated('model', 'the name it is called by here'),
  ),
  rule('created', translated('created', "the router's clock"), ignored('the format has no time in answers')),
  rule('choices[].message.content', passed, translated('content[].text')),
  rule(
    'choices[].message.content beside tool calls',
    ignored(
      'a message with tool calls has no text in this format; a stream has sent it before it can know of the calls',
    ),
    translated('content[].text'),
  ),
  rule(
    'choices[].message.reasoning_content',
    passed,
    translated('content[].thinking', 'with a signature that marks it as unsigned'),
  ),
  rule(
    'choices[].message.reasoning',
    translated('choices[].message.reasoning_content'),
    translated('content[].thinking'),
  ),
  rule('choices[].message.refusal', passed, translated('content[].text')),
  rule(
    'choices[].message.tool_calls',
    translated(
      'choices[].message.tool_calls[].function.arguments',
      'missing ids are made; arguments are always JSON text',
    ),
    translated('content[].input', 'as JSON; other text becomes `{"_raw": …}`'),
  ),
  rule(
    'choices[].finish_reason',
    translated('choices[].finish_reason', '`tool_calls` when there are some, unless the answer was cut'),
    translated('stop_reason'),
  ),
  rule('choices[].stop_reason', passed, translated('stop_sequence', "vLLM's matched stop text")),
  rule('choices[].matched_stop', passed, translated('stop_sequence', "SGLang's matched stop text")),
  rule('choices[].logprobs', passed, ignored('the format has none')),
  rule(
    'usage.prompt_tokens',
    passed,
    translated('usage.input_tokens', 'less what was cached; estimated when the engine does not count'),
  ),
  rule(
    'usage.completion_tokens',
    passed,
    translated('usage.output_tokens', 'estimated when the engine does not count'),
  ),
  rule('usage.prompt_tokens_details.cached_tokens', passed, translated('usage.cache_read_input_tokens')),
  rule('usage.prompt_tokens_details.cache_write_tokens', passed, translated('usage.cache_creation_input_tokens')),
  rule(
    'usage.completion_tokens_details.reasoning_tokens',
    passed,
    translated('usage.output_tokens_details.thinking_tokens'),
  ),
  rule('*', passed, ignored('the format has no such field')),
];
