import { ignored, passed, refused, rule, translated, type FieldRule } from '../field-rule.ts';

const noText = 'without empty text, which the messages format refuses';

export const requestRules: readonly FieldRule[] = [
  rule('model', translated('model', "the upstream's name for the chosen model")),
  rule('instructions', translated('system', 'before the messages of developers')),
  rule('input', translated('messages[].content', 'a text is one message of the user')),
  rule('input[] message, system, developer, leading', translated('system')),
  rule(
    'input[] message, system, developer, later',
    translated(
      'messages[].role',
      'role `system`, in the same place; after the results, if calls still wait for theirs',
    ),
  ),
  rule('input[] message, user', translated('messages[].content', noText)),
  rule(
    'input[] message, assistant',
    translated('messages[].content', 'one turn with the thinking and the calls around it'),
  ),
  rule('input[].id', ignored('the messages format has no ids of items')),
  rule('input[].status', ignored('the messages format has no states of items')),
  rule('input[].phase', ignored('the messages format does not tell comments from answers')),
  rule('input[].caller', ignored('programs that call tools run on the upstream')),
  rule('input[].async', ignored('the messages format waits for every result')),
  rule('input[].execution', ignored('the tools that a search has found are offered, whoever has searched')),
  rule('input[].content[].annotations', ignored('the messages format has no annotations of earlier answers')),
  rule('input[].content[].logprobs', ignored('the messages format has no log probabilities of earlier answers')),
  rule('input[].content[] input_text, output_text', translated('messages[].content[].text')),
  rule('input[].content[] refusal', translated('messages[].content[].text')),
  rule(
    'input[].content[] input_image',
    translated('messages[].content[].source', 'JPEG, PNG, GIF or WebP, by URL or as base64; others are refused'),
  ),
  rule('input[].content[] input_image, by id', refused('an image by its id')),
  rule('input[].content[].detail', ignored('the messages format has one level of detail')),
  rule(
    'input[].content[] input_file, with data',
    translated('messages[].content[].source', 'a `document` with a PDF or plain text; others are refused'),
  ),
  rule('input[].content[] input_file, by URL', translated('messages[].content[].source', 'a `document` with that URL')),
  rule('input[].content[] input_file, by id', refused('a file by its id')),
  rule('input[].content[] of other types', refused('content of that type')),
  rule(
    'input[].content[].prompt_cache_breakpoint',
    translated('messages[].content[].cache_control', 'a `ttl` becomes one hour; the last four count'),
  ),
  rule(
    'input[] reasoning',
    translated(
      'messages[].content[].signature',
      'the thinking block as the upstream sent it, from `encrypted_content`; ignored if the content was sealed for another owner or by another server, was changed, or comes from another model',
    ),
  ),
  rule('input[] reasoning, without signature', ignored('the messages format requires the signature of its upstream')),
  rule('input[] reasoning, summary alone', ignored('the messages format requires the signature of its upstream')),
  rule(
    'input[] function_call',
    translated(
      'messages[].content[].input',
      'a `tool_use` block; arguments that are not a JSON object become `{"_raw": …}`; characters not allowed in ids are replaced by their code',
    ),
  ),
  rule('input[] custom_tool_call', translated('messages[].content[].input', 'a `tool_use` block with `{"input": …}`')),
  rule(
    'input[] tool_search_call',
    translated(
      'messages[].content[].input',
      "a `tool_use` block; a search without a `call_id` was not the client's and is ignored",
    ),
  ),
  rule(
    'input[] function_call_output, custom_tool_call_output',
    translated(
      'messages[].content[].tool_use_id',
      'consecutive results and the user message after them become one user turn, with `tool_result` blocks first; texts, images and files are its content; an output without a `call_id` becomes a `text` block that names its tool',
    ),
  ),
  rule(
    'input[] tool_search_output',
    translated('tools[].name', 'the tools found are offered; the `tool_result` names them'),
  ),
  rule('input[] additional_tools', translated('tools[].name', 'its tools are offered')),
  rule(
    'input[] web_search_call, mcp_call and others that the router has run',
    translated('messages[].content[].tool_use_id', 'a call of a function and its output'),
  ),
  rule(
    'input[] web_search_call, file_search_call, code_interpreter_call, image_generation_call, mcp_call, mcp_list_tools, mcp_approval_request, mcp_approval_response',
    ignored('a server has run the calls; the text of the answer after them contains the outcome'),
  ),
  rule(
    'input[] compaction',
    translated(
      'messages[].content',
      'the summary, as a message of the user; refused if it was sealed for another owner',
    ),
  ),
  rule(
    'input[] compaction_trigger',
    translated('messages[].content', 'a message that asks for a summary; the answer is one `compaction` item'),
  ),
  rule('input[] of other types', refused('items of that type')),
  rule(
    'max_output_tokens',
    translated(
      'max_tokens',
      "if there is no limit, the lower of 32,000 and the model's maximum; 8192 if the maximum is unknown",
    ),
  ),
  rule('temperature', translated('temperature', 'at most 1; omitted if thinking is on')),
  rule('top_p', translated('top_p', 'omitted if thinking is on')),
  rule('stream', passed),
  rule('stream_options', ignored('events are never padded, and always report the usage')),
  rule('tools[] function', translated('tools[].input_schema', 'without `$schema`')),
  rule('tools[].strict', translated('tools[].strict')),
  rule('tools[].allowed_callers', ignored('programs that call tools run on the upstream')),
  rule('tools[].async', ignored('the model waits for every result')),
  rule('tools[].defer_loading', ignored('the tool is offered at once')),
  rule('tools[].output_schema', ignored('models are told what a tool takes')),
  rule('tools[].description, of a namespace', ignored('the tools of the namespace have their own descriptions')),
  rule(
    'tools[] custom',
    translated('tools[].input_schema', 'a tool with one string, `input`; the description contains the grammar'),
  ),
  rule('tools[] namespace', translated('tools[].name', 'its tools, with names of namespace and tool, `__` between')),
  rule('tools[] tool_search, by the client', translated('tools[].input_schema')),
  rule('tools[] web_search, without access to the web', ignored('the search only uses a cache of its vendor')),
  rule('tools[].user_location', translated('tools[].user_location', 'without fields that are null')),
  rule(
    'tools[] web_search beside tools of the client',
    translated(
      'tools[].type',
      '`web_search_20250305`, with the domains and the location; ignored if the upstream does not search',
    ),
  ),
  rule(
    'tools[] web_search alone',
    translated(
      'tools[].type',
      '`web_search_20250305`, with the domains and the location; refused if the upstream does not search',
    ),
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
  rule('tool_choice', translated('tool_choice', '`required` becomes `any`; omitted if there are no tools')),
  rule('tool_choice allowed_tools', translated('tools[].name', 'only these tools are offered')),
  rule('parallel_tool_calls', translated('tool_choice.disable_parallel_tool_use')),
  rule('max_tool_calls', ignored('the router counts the calls of the hosted tools that it runs')),
  rule(
    'reasoning.effort',
    translated(
      'thinking',
      '`adaptive` with `output_config.effort`, or `enabled` with a budget for a model that takes no other; `none` becomes `disabled`, `minimal` becomes `low`; `disabled` if a tool is forced; omitted for a model that does not think',
    ),
  ),
  rule(
    'reasoning.summary',
    translated(
      'thinking.display',
      '`summarized`, if an effort is set; the thinking is then also the summary of its item',
    ),
  ),
  rule('reasoning.context', ignored('the model gets the earlier thinking that the client sends')),
  rule('reasoning.mode', ignored("specific to OpenAI's models")),
  rule(
    'reasoning.generate_summary',
    ignored('the older name of `summary`; the thinking is then also the summary of its item'),
  ),
  rule('text.format json_schema', translated('output_config.format.schema')),
  rule('text.format.name', ignored('the messages format has no names of schemas')),
  rule('text.format.strict', ignored('the messages format is always strict')),
  rule('text.format json_object', translated('system', 'as an instruction')),
  rule('text.verbosity', ignored("specific to OpenAI's models")),
  rule('user', translated('metadata.user_id', 'as a SHA-256 hash')),
  rule('safety_identifier', translated('metadata.user_id', 'as a SHA-256 hash; takes precedence over `user`')),
  rule(
    'prompt_cache_key',
    translated(
      'messages[].content[].cache_control',
      "marks at the ends of the system prompt and of the user's last two turns; a request with tools or an earlier answer gets them, too",
    ),
  ),
  rule(
    'prompt_cache_options',
    translated(
      'messages[].content[].cache_control',
      'mode `explicit`: only what the client marks; a `ttl` becomes one hour',
    ),
  ),
  rule('prompt_cache_retention', ignored('the marks determine how long the upstream keeps the content')),
  rule('prompt_cache_options.prewarm', ignored('the upstream keeps only marked content')),
  rule('prompt_cache_options.comparison_response_id', ignored('the upstream keeps only marked content')),
  rule('include reasoning.encrypted_content', ignored('it only concerns the answer')),
  rule('include message.output_text.logprobs', refused('log probabilities')),
  rule('include of other parts', ignored('the other parts belong to calls that run on the upstream')),
  rule('top_logprobs', refused('log probabilities')),
  rule('metadata', ignored('the answer repeats it')),
  rule('truncation', ignored('a request that does not fit is refused')),
  rule('context_management', ignored('the model gets the whole history that the client sends')),
  rule('service_tier', ignored("specific to OpenAI's platform")),
  rule('moderation', ignored("specific to OpenAI's platform")),
  rule('image', ignored("specific to OpenAI's platform")),
  rule('access_programs', ignored("specific to OpenAI's platform")),
  rule('client_metadata', ignored("specific to OpenAI's programs")),
  rule('store', ignored('the router stores answers, not the upstream')),
  rule('previous_response_id', ignored('the stored items precede the input already')),
  rule('conversation', refused('conversations stored on the server')),
  rule('prompt', refused('prompts stored on the server')),
  rule('background', ignored('the router makes answers in the background, not the upstream')),
  rule('background_options', ignored('the router makes answers in the background, not the upstream')),
  rule('*', passed),
];

export const answerRules: readonly FieldRule[] = [
  rule('id', translated('id', "the router's id")),
  rule('model', translated('model', "the router's name for the model")),
  rule('content[].text', translated('output[].content[].text')),
  rule('content[].text beside tool calls', translated('output[].content[].text', 'items in the order of the blocks')),
  rule('content[].citations', ignored('citations have other places in the text than in the Responses format')),
  rule(
    'content[].thinking',
    translated('output[].content[].text', 'a `reasoning` item; also its summary, if asked for'),
  ),
  rule(
    'content[].signature',
    translated(
      'output[].encrypted_content',
      'sealed for the owner, if the request asks for it or the answer is stored',
    ),
  ),
  rule(
    'content[] redacted_thinking',
    translated('output[].encrypted_content', 'a `reasoning` item without text, sealed as signatures are'),
  ),
  rule('content[] tool_use', translated('output[].arguments', 'the input as JSON text; `input` of a custom tool')),
  rule(
    'content[] server_tool_use, of a search',
    translated('output[].action', 'a `web_search_call`; the text of the answer contains what the search found'),
  ),
  rule('content[] of other types', ignored('results of tools that ran on the upstream')),
  rule(
    'stop_reason',
    translated(
      'status',
      '`incomplete` after `max_tokens`, a full context window or a refusal; after `pause_turn` the turn is continued',
    ),
  ),
  rule('stop_sequence', ignored('the Responses format does not report it')),
  rule('stop_details.explanation', translated('output[].content[].refusal')),
  rule('usage.input_tokens', translated('usage.input_tokens', 'with cached tokens')),
  rule('usage.output_tokens', translated('usage.output_tokens')),
  rule('usage.cache_read_input_tokens', translated('usage.input_tokens_details.cached_tokens')),
  rule('usage.cache_creation_input_tokens', translated('usage.input_tokens_details.cache_write_tokens')),
  rule('usage.output_tokens_details.thinking_tokens', translated('usage.output_tokens_details.reasoning_tokens')),
  rule('container', ignored('the Responses format has no such field')),
  rule('diagnostics', ignored('the Responses format has no such field')),
  rule('stop_details.category', ignored('the Responses format has no kinds of refusals')),
  rule('usage.cache_creation', ignored('the usage ledger has the counts')),
  rule('usage.server_tool_use', ignored('the usage ledger has the counts')),
  rule('usage of other kinds', ignored('the Responses format has no such fields')),
  rule('*', ignored('the Responses format has no such field')),
];
