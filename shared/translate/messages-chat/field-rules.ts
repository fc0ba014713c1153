import { ignored, passed, refused, rule, translated, type FieldRule } from '../field-rule.ts';

/** The effect on each field of a messages client's request for a chat upstream. */
export const requestRules: readonly FieldRule[] = [
  rule('model', translated('model', "the upstream's name for the chosen model")),
  rule('system', translated('messages[].content', 'the first message; blocks are joined by an empty line')),
  rule('system[] billing header', ignored('a version number that changes with every turn and defeats prefix caches')),
  rule(
    'messages[] system',
    translated(
      'messages[].content',
      'part of the first system message, because many chat templates refuse a later one',
    ),
  ),
  rule('messages[] user', translated('messages[].content')),
  rule('messages[] assistant', translated('messages[].content', 'the order of text, thinking and tool calls is lost')),
  rule('messages[].content[] text', translated('messages[].content')),
  rule('messages[].content[] image', translated('messages[].content[].image_url.url', 'base64 as a data URL')),
  rule('messages[].content[] image, by file id', refused('images from that source')),
  rule('messages[].content[] document, text', translated('messages[].content', 'its title, then its text')),
  rule('messages[].content[] document, context', translated('messages[].content', 'after the title')),
  rule('messages[].content[] document, citations', ignored('the chat format has no citations')),
  rule('messages[].content[] document, PDF', refused('documents of that type, unless the upstream takes files')),
  rule('messages[].content[] document, by URL', refused('documents from that source')),
  rule(
    'messages[].content[] tool_use',
    translated('messages[].tool_calls[].function.arguments', 'the input as JSON text'),
  ),
  rule(
    'messages[].content[] tool_result',
    translated('messages[].tool_call_id', 'a `tool` message; its texts are joined by an empty line'),
  ),
  rule(
    'messages[].content[] tool_result, image',
    translated(
      'messages[].content[].image_url.url',
      'in the user message after the results; the result says which it is',
    ),
  ),
  rule('messages[].content[].is_error', translated('messages[].content', 'with the prefix `Error: `')),
  rule(
    'messages[].content[] tool_result, tool_reference',
    translated('messages[].content', "the tool's name as text; the tool is offered"),
  ),
  rule('messages[].content[] tool_addition', translated('tools[].function.name', 'the tool is offered')),
  rule('messages[].content[] tool_removal', translated('tools[].function.name', 'the tool is not offered')),
  rule('messages[].content[] thinking', translated('messages[].reasoning_content', 'without its signature')),
  rule('messages[].content[] thinking, signed here', translated('messages[].reasoning_content')),
  rule('messages[].content[] thinking, of a Responses worker', translated('messages[].reasoning_content')),
  rule('messages[].content[] redacted_thinking', ignored('only the upstream that made it can read it')),
  rule(
    'messages[].content[] redacted_thinking, made here',
    translated(
      'messages[].extra_content',
      '[what the upstream wants back](#reasoning-that-a-chat-upstream-wants-back), for the upstream, account and model that it came from',
    ),
  ),
  rule(
    'messages[].content[] web search or fetch',
    translated(
      'messages[].tool_call_id',
      'a call and its result; of results of another upstream, titles and addresses',
    ),
  ),
  rule(
    'messages[].content[] web search or fetch, run here',
    translated('messages[].tool_call_id', 'a call and its result'),
  ),
  rule(
    'messages[].content[] compaction',
    translated('messages[].content', 'its summary, as a text of the user in place of all that precedes it'),
  ),
  rule('messages[].content[].citations, made here', ignored('the chat format has no citations')),
  rule('messages[].content[] of other types', refused('content of that type')),
  rule('messages[].content[].cache_control', ignored('engines cache prefixes automatically')),
  rule('max_tokens', passed),
  rule('max_tokens of 0', refused('a limit of 0, which only warms a cache')),
  rule('temperature', passed),
  rule('top_p', passed),
  rule('top_k', passed),
  rule('stop_sequences', translated('stop')),
  rule('stream', translated('stream', 'with `stream_options.include_usage`')),
  rule('tools[]', translated('tools[].function.parameters', 'without `$schema`')),
  rule('tools[].strict', translated('tools[].function.strict')),
  rule(
    'tools[] bash, text editor, memory, computer',
    translated('tools[].function.parameters', 'a function with a schema of what the tool takes'),
  ),
  rule(
    'tools[] run by the upstream',
    refused('tools that run on the upstream, except [those that the router runs](tools.md#hosted-tools)'),
  ),
  rule(
    'tools[].user_location',
    ignored(
      "the router's search gives it to its tool, if the [tool's input](tools.md#hosted-tools) has a field for it",
    ),
  ),
  rule('tools[].cache_control', ignored('specific to the messages format; the tool is offered')),
  rule(
    'tools[].defer_loading',
    translated('tools[].function.name', 'the tool is offered once the conversation refers to it'),
  ),
  rule('tools[] tool_search_tool', translated('tools[].function.name', 'not offered; all deferred tools are')),
  rule('tools[].eager_input_streaming', ignored('specific to the messages format; the tool is offered')),
  rule('tools[].input_examples', ignored('specific to the messages format; the tool is offered')),
  rule('tools[].allowed_callers', ignored('specific to the messages format; the tool is offered')),
  rule('tool_choice', translated('tool_choice', '`any` becomes `required`; omitted if there are no tools')),
  rule('tool_choice.disable_parallel_tool_use', translated('parallel_tool_calls')),
  rule(
    'thinking',
    translated(
      'reasoning_effort',
      '`disabled` and `between_tools` become `none`; `enabled` becomes `low` up to 2048 tokens, `medium` up to 8192, `high` above; others become the effort, `high` by default; without it, engines that can be asked for no thinking are',
    ),
  ),
  rule('output_config.effort', translated('reasoning_effort', 'if `thinking` is adaptive or absent')),
  rule('output_config.task_budget', ignored('the chat format has no such parameter')),
  rule('output_config.format', translated('response_format.json_schema.schema')),
  rule('output_format', translated('response_format.json_schema.schema', 'the older name of `output_config.format`')),
  rule('metadata.user_id', translated('user', 'as a SHA-256 hash')),
  rule(
    'context_management.edits[] clear_thinking',
    translated('messages[].reasoning_content', 'the router clears it, and reports it in the answer'),
  ),
  rule(
    'context_management.edits[] clear_tool_uses',
    translated('messages[].content', 'the router clears them, and reports it in the answer; tokens are estimated'),
  ),
  rule('context_management.edits[] of other types', ignored('the model gets the whole history that the client sends')),
  rule('cache_control', ignored("specific to Anthropic's platform")),
  rule('service_tier', ignored("specific to Anthropic's platform")),
  rule('speed', ignored("specific to Anthropic's platform")),
  rule('inference_geo', ignored("specific to Anthropic's platform")),
  rule('fallbacks', ignored("specific to Anthropic's platform")),
  rule('diagnostics', ignored("specific to Anthropic's platform")),
  rule('betas', ignored("specific to Anthropic's platform")),
  rule('billing_policy', ignored("specific to Anthropic's platform")),
  rule('fallback_credit_token', ignored("specific to Anthropic's platform")),
  rule('safeguards', ignored("specific to Anthropic's platform")),
  rule('compaction', refused('a request for a summary in place of an answer')),
  rule('mcp_servers', refused('MCP servers that the upstream connects to')),
  rule('container', refused('a container on the upstream')),
  rule('thread', refused('conversations stored on the server')),
  rule("* that names what the provider's account has stored", passed),
  rule('*', passed),
];

const carried =
  'in the signature of the thinking before it, else in a redacted block; [the next request returns it](#reasoning-that-a-chat-upstream-wants-back)';

/** The effect on each field of a chat upstream's answer for a messages client. */
export const answerRules: readonly FieldRule[] = [
  rule('id', translated('id', "the router's id")),
  rule('model', translated('model', "the router's name for the model")),
  rule('created', ignored('the messages format has no time of creation')),
  rule('choices[].message.content', translated('content[].text')),
  rule('choices[].message.content beside tool calls', translated('content[].text')),
  rule(
    'choices[].message.reasoning_content',
    translated(
      'content[].thinking',
      'if the request asks for thinking; with a signature that marks it as unsigned, or that carries the text where `display` is `omitted`',
    ),
  ),
  rule('choices[].message.reasoning', translated('content[].thinking')),
  rule('choices[].message.refusal', translated('content[].text')),
  rule(
    'choices[].message.tool_calls',
    translated('content[].input', 'as an object; text that is not one becomes `{"_raw": …}`'),
  ),
  rule('choices[].message.extra_content', translated('content[].data', carried)),
  rule('choices[].message.reasoning_details', translated('content[].data', carried)),
  rule('choices[].message.tool_calls[].extra_content', translated('content[].data', carried)),
  rule('choices[].finish_reason', translated('stop_reason')),
  rule('choices[].stop_reason', translated('stop_sequence', 'the stop sequence that vLLM matched')),
  rule('choices[].matched_stop', translated('stop_sequence', 'the stop sequence that SGLang matched')),
  rule('choices[].logprobs', ignored('the messages format has no log probabilities')),
  rule(
    'usage.prompt_tokens',
    translated('usage.input_tokens', 'without cached tokens; estimated if the upstream reports none'),
  ),
  rule('usage.completion_tokens', translated('usage.output_tokens', 'estimated if the upstream reports none')),
  rule('usage.prompt_tokens_details.cached_tokens', translated('usage.cache_read_input_tokens')),
  rule('usage.prompt_tokens_details.cache_write_tokens', translated('usage.cache_creation_input_tokens')),
  rule('usage.completion_tokens_details.reasoning_tokens', translated('usage.output_tokens_details.thinking_tokens')),
  rule('*', ignored('the messages format has no such field')),
];
