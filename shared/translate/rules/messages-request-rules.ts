import { type FieldRule, ignored, passed, refused, rule, translated } from './field-rule.ts';

const platformHint = "a hint for one vendor's own platform";

/** What becomes of the fields of a messages client's request. */
export const messagesRequestRules: readonly FieldRule[] = [
  rule(
    'model',
    translated('model', "the upstream's name of the chosen model"),
    translated('model', "the upstream's name of the chosen model"),
  ),
  rule(
    'system',
    passed,
    translated('messages[].content', 'the first message; blocks are put together with an empty line between'),
  ),
  rule(
    'system[] billing header',
    passed,
    ignored('a version number that changes with every turn and would defeat prefix caches'),
  ),
  rule(
    'messages[] system',
    passed,
    translated('messages[].content', 'joins the first system message: many templates refuse a later one'),
  ),
  rule('messages[] user', passed, translated('messages[].content')),
  rule(
    'messages[] assistant',
    passed,
    translated('messages[].content', 'the order of texts among thinking and tool calls is not kept'),
  ),
  rule('messages[].content[] text', passed, translated('messages[].content')),
  rule('messages[].content[] image', passed, translated('messages[].content[].image_url.url', 'base64 as a data URL')),
  rule('messages[].content[] image, by file id', passed, refused('images from that source')),
  rule('messages[].content[] document, text', passed, translated('messages[].content', 'its title, then its text')),
  rule(
    'messages[].content[] document, PDF',
    passed,
    refused('documents of that type, unless the upstream takes files'),
  ),
  rule('messages[].content[] document, by URL', passed, refused('documents from that source')),
  rule(
    'messages[].content[] tool_use',
    passed,
    translated('messages[].tool_calls[].function.arguments', 'the input as JSON text'),
  ),
  rule(
    'messages[].content[] tool_result',
    passed,
    translated('messages[].tool_call_id', 'a `tool` message; its texts are put together with an empty line between'),
  ),
  rule(
    'messages[].content[] tool_result, image',
    passed,
    translated('messages[].content[].image_url.url', 'moves to the user message after the results'),
  ),
  rule('messages[].content[].is_error', passed, translated('messages[].content', '`Error: ` before the text')),
  rule('messages[].content[] thinking', passed, translated('messages[].reasoning_content', 'without its signature')),
  rule(
    'messages[].content[] thinking, signed here',
    ignored('the upstream would refuse a signature that is not its own'),
    translated('messages[].reasoning_content'),
  ),
  rule('messages[].content[] redacted_thinking', passed, ignored('only the upstream that made it can read it')),
  rule('messages[].content[] of other types', passed, refused('content of that type')),
  rule('messages[].content[].cache_control', passed, ignored('engines cache prefixes by themselves')),
  rule('max_tokens', passed, passed),
  rule('max_tokens of 0', passed, refused('a limit of 0, which only warms a cache')),
  rule('temperature', passed, passed),
  rule('top_p', passed, passed),
  rule('top_k', passed, passed),
  rule('stop_sequences', passed, translated('stop')),
  rule('stream', passed, translated('stream', 'and `stream_options.include_usage`')),
  rule('tools[]', passed, translated('tools[].function.parameters', 'without `$schema`')),
  rule('tools[].strict', passed, translated('tools[].function.strict')),
  rule('tools[] run by the upstream', passed, refused('tools that the upstream itself runs')),
  ...['cache_control', 'defer_loading', 'eager_input_streaming', 'input_examples', 'allowed_callers'].map((field) =>
    rule(`tools[].${field}`, passed, ignored('a hint for that format alone; the tool is offered')),
  ),
  rule('tool_choice', passed, translated('tool_choice', '`any` is `required`; left out when there are no tools')),
  rule('tool_choice.disable_parallel_tool_use', passed, translated('parallel_tool_calls')),
  rule(
    'thinking',
    passed,
    translated(
      'reasoning_effort',
      '`disabled` and `between_tools` are `none`; `enabled` is `low` up to 2048 tokens, `medium` up to 8192, `high` above; others are the effort, else `high`',
    ),
  ),
  rule('output_config.effort', passed, translated('reasoning_effort', 'when `thinking` is adaptive')),
  rule('output_config.format', passed, translated('response_format.json_schema.schema')),
  rule('output_format', passed, translated('response_format.json_schema.schema', 'the older name')),
  rule('metadata.user_id', passed, translated('user', 'as SHA-256')),
  rule(
    'context_management',
    passed,
    ignored('the client sends its whole history; what of it to forget is up to the model'),
  ),
  ...['cache_control', 'service_tier', 'speed', 'inference_geo', 'fallbacks', 'diagnostics', 'betas'].map((field) =>
    rule(field, passed, ignored(platformHint)),
  ),
  rule('mcp_servers', passed, refused('servers of tools that the upstream itself runs')),
  rule('container', passed, refused('a container that the upstream itself runs')),
  rule('thread', refused('conversations held by the server'), refused('conversations held by the server')),
  rule('*', passed, passed),
];
