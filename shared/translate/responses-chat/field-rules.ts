import { ignored, passed, refused, rule, translated, type FieldRule } from '../field-rule.ts';

/** The effect on each field of a Responses client's request for a chat upstream. */
export const requestRules: readonly FieldRule[] = [
  rule('model', translated('model', "the upstream's name for the chosen model")),
  rule('instructions', translated('messages[].content', 'the first message, with the texts of developers')),
  rule('input', translated('messages[].content', 'a text is one message of the user')),
  rule('input[] message, system, developer, leading', translated('messages[].content', 'the first message')),
  rule(
    'input[] message, system, developer, later',
    translated('messages[].content', 'part of the first message, because many chat templates refuse a later one'),
  ),
  rule('input[] message, user', translated('messages[].content')),
  rule(
    'input[] message, assistant',
    translated('messages[].content', 'one message with the thinking and the calls around it'),
  ),
  rule('input[].id', ignored('the chat format has no ids of messages')),
  rule('input[].status', ignored('the chat format has no states of messages')),
  rule('input[].phase', ignored('the chat format does not tell comments from answers')),
  rule('input[].content[] input_text, output_text', translated('messages[].content')),
  rule('input[].content[] refusal', translated('messages[].content')),
  rule('input[].content[] input_image', translated('messages[].content[].image_url.url')),
  rule('input[].content[] input_image, by id', refused('an image by its id')),
  rule('input[].content[].detail', translated('messages[].content[].image_url.detail')),
  rule(
    'input[].content[] input_file, with data',
    translated('messages[].content', 'text or JSON as text; a PDF stays a file, if the upstream takes files'),
  ),
  rule('input[].content[] input_file, by URL', refused('a file by its URL')),
  rule('input[].content[] input_file, by id', refused('a file by its id')),
  rule('input[].content[] of other types', refused('content of that type')),
  rule('input[].content[].prompt_cache_breakpoint', ignored('engines cache prefixes automatically')),
  rule(
    'input[] reasoning',
    translated(
      'messages[].reasoning_content',
      'the text that `encrypted_content` seals for the owner, else `content`, else the summary',
    ),
  ),
  rule('input[] reasoning, without signature', translated('messages[].reasoning_content')),
  rule('input[] function_call', translated('messages[].tool_calls[].function.arguments')),
  rule(
    'input[] custom_tool_call',
    translated('messages[].tool_calls[].function.arguments', 'the text as `{"input": …}`'),
  ),
  rule(
    'input[] tool_search_call',
    translated(
      'messages[].tool_calls[].function.arguments',
      "as JSON text; without a `call_id`, it was not the client's and is ignored",
    ),
  ),
  rule(
    'input[] function_call_output, custom_tool_call_output',
    translated(
      'messages[].tool_call_id',
      'a `tool` message with one text; images and files follow in a message of the user',
    ),
  ),
  rule(
    'input[] tool_search_output',
    translated('tools[].function.name', 'its tools are offered; the message names them'),
  ),
  rule('input[] additional_tools', translated('tools[].function.name', 'its tools are offered')),
  rule(
    'input[] web_search_call, mcp_call and others that the router has run',
    translated('messages[].tool_call_id', 'a call of a function and its output'),
  ),
  rule(
    'input[] web_search_call, mcp_call and others of hosted tools',
    ignored('a server has run them; the answer after them has what came of it'),
  ),
  rule(
    'input[] compaction',
    translated(
      'messages[].content',
      'its summary, as a message of the user; refused if it was sealed for another owner',
    ),
  ),
  rule(
    'input[] compaction_trigger',
    translated('messages[].content', 'a message that asks for a summary; the answer is one `compaction` item'),
  ),
  rule('input[] of other types', refused('items of that type')),
  rule('max_output_tokens', translated('max_tokens')),
  rule('temperature', passed),
  rule('top_p', passed),
  rule('stream', translated('stream', 'with `stream_options.include_usage`')),
  rule('stream_options', ignored('events are never padded, and always report the usage')),
  rule('tools[] function', translated('tools[].function.parameters', 'without `$schema`')),
  rule('tools[].strict', translated('tools[].function.strict')),
  rule(
    'tools[] custom',
    translated(
      'tools[].function.parameters',
      'a function with one string, `input`; the description contains the grammar',
    ),
  ),
  rule(
    'tools[] namespace',
    translated('tools[].function.name', 'its tools, with names of namespace and tool, `__` between'),
  ),
  rule('tools[] tool_search, by the client', translated('tools[].function.parameters')),
  rule('tools[] web_search, without access to the web', ignored('it searches a cache of its vendor')),
  rule(
    'tools[].user_location',
    ignored(
      "the router's search gives it to its tool, if the [tool's input](tools.md#hosted-tools) has a field for it",
    ),
  ),
  rule('tools[] web_search beside tools of the client', ignored('the request can do without, where nothing searches')),
  rule(
    'tools[] web_search alone',
    refused('tools of that type, except [those that the router runs](tools.md#hosted-tools)'),
  ),
  rule(
    'tools[] mcp',
    refused(
      "MCP servers, except [the operator's](tools.md#hosted-tools), which `server_label` names; the client's `server_url`, `authorization` and `headers` are not used",
    ),
  ),
  rule(
    'tools[] of other types',
    refused('tools of that type, except [those that the router runs](tools.md#hosted-tools)'),
  ),
  rule('tool_choice', translated('tool_choice', 'omitted if there are no tools')),
  rule('tool_choice allowed_tools', translated('tools[].function.name', 'only these tools are offered')),
  rule('parallel_tool_calls', translated('parallel_tool_calls', 'if it is false and there are tools')),
  rule('max_tool_calls', ignored('the router counts the calls of the hosted tools that it runs')),
  rule('reasoning.effort', translated('reasoning_effort')),
  rule('reasoning.summary', ignored('the thinking is then also the summary of its item')),
  rule('reasoning.context', ignored('earlier thinking counts as far as the client sends it')),
  rule('text.format json_schema', translated('response_format.json_schema.schema')),
  rule('text.format.name', translated('response_format.json_schema.name')),
  rule('text.format.strict', translated('response_format.json_schema.strict')),
  rule('text.format json_object', translated('response_format.type')),
  rule('text.verbosity', translated('verbosity')),
  rule('user', passed),
  rule('safety_identifier', passed),
  rule('prompt_cache_key', passed),
  rule('prompt_cache_options', ignored('engines cache prefixes automatically')),
  rule('prompt_cache_retention', passed),
  rule('include reasoning.encrypted_content', ignored('it concerns the answer')),
  rule('include message.output_text.logprobs', translated('logprobs')),
  rule('top_logprobs', translated('top_logprobs', 'with `logprobs`')),
  rule('metadata', ignored('the answer repeats it')),
  rule('truncation', ignored('a request that does not fit is refused')),
  rule('context_management', ignored('the model gets the whole history that the client sends')),
  rule('service_tier', passed),
  rule('moderation', ignored("specific to OpenAI's platform")),
  rule('image', ignored("specific to OpenAI's platform")),
  rule('access_programs', ignored("specific to OpenAI's platform")),
  rule('client_metadata', ignored("specific to OpenAI's programs")),
  rule('store', ignored('the router stores answers, not the upstream')),
  rule('previous_response_id', ignored('the stored items precede the input already')),
  rule('conversation', refused('conversations stored on the server')),
  rule('prompt', refused('prompts stored on the server')),
  rule('background', ignored('the router makes answers in the background, not the upstream')),
  rule('*', passed),
];

const sealed =
  'sealed in the reasoning before it, else in an item of its own; [the next request returns it](#reasoning-that-a-chat-upstream-wants-back)';

/** The effect on each field of a chat upstream's answer for a Responses client. */
export const answerRules: readonly FieldRule[] = [
  rule('id', translated('id', "the router's id")),
  rule('model', translated('model', "the router's name for the model")),
  rule('created', translated('created_at', "the router's clock")),
  rule('choices[].message.content', translated('output[].content[].text')),
  rule('choices[].message.content beside tool calls', translated('output[].content[].text')),
  rule(
    'choices[].message.reasoning_content',
    translated(
      'output[].content[].text',
      'a `reasoning` item; also its summary and its `encrypted_content`, if asked for',
    ),
  ),
  rule('choices[].message.reasoning', translated('output[].content[].text')),
  rule('choices[].message.refusal', translated('output[].content[].refusal')),
  rule(
    'choices[].message.tool_calls',
    translated('output[].arguments', "an item of the tool's kind, with its namespace; `input` of a custom tool"),
  ),
  rule('choices[].message.extra_content', translated('output[].encrypted_content', sealed)),
  rule('choices[].message.reasoning_details', translated('output[].encrypted_content', sealed)),
  rule('choices[].message.tool_calls[].extra_content', translated('output[].encrypted_content', sealed)),
  rule('choices[].finish_reason', translated('status', '`incomplete` after `length` or `content_filter`')),
  rule('choices[].stop_reason', ignored('the Responses format does not report it')),
  rule('choices[].matched_stop', ignored('the Responses format does not report it')),
  rule('choices[].logprobs', translated('output[].content[].logprobs', 'those of the text')),
  rule('usage.prompt_tokens', translated('usage.input_tokens', 'estimated if the upstream reports none')),
  rule('usage.completion_tokens', translated('usage.output_tokens', 'estimated if the upstream reports none')),
  rule('usage.prompt_tokens_details.cached_tokens', translated('usage.input_tokens_details.cached_tokens')),
  rule('usage.prompt_tokens_details.cache_write_tokens', translated('usage.input_tokens_details.cache_write_tokens')),
  rule(
    'usage.completion_tokens_details.reasoning_tokens',
    translated('usage.output_tokens_details.reasoning_tokens', 'estimated if there is thinking that is not counted'),
  ),
  rule('*', ignored('the Responses format has no such field')),
];
