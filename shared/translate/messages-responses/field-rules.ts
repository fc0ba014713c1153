import { ignored, passed, refused, rule, translated, type FieldRule } from '../field-rule.ts';

const cachesPrefixes = ignored('the upstream caches prefixes automatically');
const anthropicPlatform = ignored("specific to Anthropic's platform");
const messagesOnly = ignored('specific to the messages format; the tool is offered');

/** The effect on each field of a messages client's request for a Responses upstream. */
export const requestRules: readonly FieldRule[] = [
  rule('model', translated('model', "the upstream's name for the chosen model")),
  rule('system', translated('instructions', 'blocks are joined by an empty line')),
  rule('system[] billing header', ignored('a version number that changes with every turn and defeats prefix caches')),
  rule('messages[] system', translated('input[].role', 'the same role, in the same place')),
  rule('messages[] user', translated('input[].content')),
  rule('messages[] assistant', translated('input[].content')),
  rule('messages[].content[] text', translated('input[].content[].text')),
  rule('messages[].content[] image', translated('input[].content[].image_url', 'base64 as a data URL')),
  rule('messages[].content[] image, by file id', refused('images from that source')),
  rule('messages[].content[] document, text', translated('input[].content[].text', 'its title, then its text')),
  rule('messages[].content[] document, PDF', translated('input[].content[].file_data')),
  rule('messages[].content[] document, by URL', translated('input[].content[].file_url')),
  rule(
    'messages[].content[] tool_use',
    translated('input[].arguments', 'a `function_call` item, with the input as JSON text'),
  ),
  rule(
    'messages[].content[] tool_result',
    translated('input[].output', 'a `function_call_output` item; its texts are joined by an empty line'),
  ),
  rule('messages[].content[] tool_result, image', translated('input[].output[].image_url')),
  rule('messages[].content[].is_error', translated('input[].output', 'with the prefix `Error: `')),
  rule(
    'messages[].content[] tool_result, tool_reference',
    translated('input[].output', "the tool's name as text; the tool is offered"),
  ),
  rule('messages[].content[] tool_addition', translated('tools[].name', 'the tool is offered')),
  rule('messages[].content[] tool_removal', translated('tools[].name', 'the tool is not offered')),
  rule('messages[].content[] thinking', ignored('the upstream accepts only thinking that it has encrypted')),
  rule(
    'messages[].content[] thinking, signed here',
    ignored('the upstream accepts only thinking that it has encrypted'),
  ),
  rule(
    'messages[].content[] thinking, of a Responses worker',
    translated(
      'input[].encrypted_content',
      'a reasoning item, if the same model of the same upstream wrote it; otherwise ignored',
    ),
  ),
  rule('messages[].content[] redacted_thinking', ignored('only the upstream that made it can read it')),
  rule(
    'messages[].content[] web search or fetch',
    translated('input[].output', 'a call and its output; of results of another upstream, titles and addresses'),
  ),
  rule('messages[].content[] web search or fetch, run here', translated('input[].output', 'a call and its output')),
  rule(
    'messages[].content[] compaction',
    translated('input[].content', 'its summary, as a text of the user in place of all that precedes it'),
  ),
  rule('messages[].content[].citations, made here', ignored('the text names the addresses')),
  rule('messages[].content[] of other types', refused('content of that type')),
  rule('messages[].content[].cache_control', cachesPrefixes),
  rule('max_tokens', translated('max_output_tokens')),
  rule('max_tokens of 0', refused('a limit of 0, which only warms a cache')),
  rule('temperature', passed),
  rule('top_p', passed),
  rule('top_k', ignored('the Responses format has no such parameter')),
  rule('stop_sequences', refused('stop sequences')),
  rule('stream', passed),
  rule('tools[]', translated('tools[].parameters', 'without `$schema`')),
  rule('tools[].strict', translated('tools[].strict', 'false if absent')),
  rule(
    'tools[] bash, text editor, memory, computer',
    translated('tools[].parameters', 'a function with a schema of what the tool takes'),
  ),
  rule('tools[] run by the upstream', refused('tools that run on the upstream')),
  rule(
    'tools[].user_location',
    ignored(
      "the router's search gives it to its tool, if the [tool's input](tools.md#hosted-tools) has a field for it",
    ),
  ),
  rule('tools[].cache_control', messagesOnly),
  rule('tools[].defer_loading', translated('tools[].name', 'the tool is offered once the conversation refers to it')),
  rule('tools[] tool_search_tool', translated('tools[].name', 'not offered; all deferred tools are')),
  rule('tools[].eager_input_streaming', messagesOnly),
  rule('tools[].input_examples', messagesOnly),
  rule('tools[].allowed_callers', messagesOnly),
  rule('tool_choice', translated('tool_choice', '`any` becomes `required`; omitted if there are no tools')),
  rule('tool_choice.disable_parallel_tool_use', translated('parallel_tool_calls')),
  rule(
    'thinking',
    translated(
      'reasoning',
      'its effort as for a chat worker, and a summary unless `display` is `omitted`; encrypted thinking is asked for where the upstream is known to have it',
    ),
  ),
  rule('output_config.effort', translated('reasoning.effort')),
  rule('output_config.format', translated('text.format.schema')),
  rule('output_format', translated('text.format.schema', 'the older name of `output_config.format`')),
  rule('metadata.user_id', translated('user', 'as a SHA-256 hash')),
  rule(
    'context_management.edits[] clear_thinking',
    translated('input[].encrypted_content', 'the router clears it, and reports it in the answer'),
  ),
  rule(
    'context_management.edits[] clear_tool_uses',
    translated('input[].output', 'the router clears them, and reports it in the answer; tokens are estimated'),
  ),
  rule('context_management.edits[] of other types', ignored('the model gets the whole history that the client sends')),
  rule('cache_control', anthropicPlatform),
  rule('service_tier', anthropicPlatform),
  rule('speed', anthropicPlatform),
  rule('inference_geo', anthropicPlatform),
  rule('fallbacks', anthropicPlatform),
  rule('diagnostics', anthropicPlatform),
  rule('betas', anthropicPlatform),
  rule('billing_policy', anthropicPlatform),
  rule('fallback_credit_token', anthropicPlatform),
  rule('compaction', refused('a request for a summary in place of an answer')),
  rule('mcp_servers', refused('MCP servers that the upstream connects to')),
  rule('container', refused('a container on the upstream')),
  rule('thread', refused('conversations stored on the server')),
  rule(
    "* that names what the provider's account has stored",
    refused('conversations and prompts stored on the server'),
  ),
  rule('*', passed),
];

/** The effect on each field of a Responses upstream's answer for a messages client. */
export const answerRules: readonly FieldRule[] = [
  rule('id', translated('id', "the router's id")),
  rule('model', translated('model', "the router's name for the model")),
  rule('created_at', ignored('the messages format has no time of creation')),
  rule('output[] message', translated('content[].text')),
  rule('output[] message beside tool calls', translated('content[].text')),
  rule('output[].content[].annotations', ignored('they belong to searches, which cannot be asked for')),
  rule('output[].content[].refusal', translated('content[].text', 'with the stop reason `refusal`')),
  rule('output[] reasoning, summary', translated('content[].thinking', 'if it has no content')),
  rule('output[] reasoning, content', translated('content[].thinking')),
  rule(
    'output[].encrypted_content',
    translated('content[].signature', "in a form that this router reads in the client's next request"),
  ),
  rule(
    'output[] function_call',
    translated('content[].input', 'as an object; text that is not one becomes `{"_raw": …}`'),
  ),
  rule('output[] of other types', ignored('calls and results of tools that ran on the upstream')),
  rule(
    'incomplete_details.reason',
    translated('stop_reason', '`max_tokens`, or `refusal` where a filter was the reason'),
  ),
  rule('store', ignored('the messages format does not report it')),
  rule('previous_response_id', ignored('the messages format has no such field')),
  rule('usage.input_tokens', translated('usage.input_tokens', 'without cached tokens; estimated if there is none')),
  rule('usage.output_tokens', translated('usage.output_tokens', 'estimated if the upstream reports none')),
  rule('usage.input_tokens_details.cached_tokens', translated('usage.cache_read_input_tokens')),
  rule('usage.input_tokens_details.cache_write_tokens', translated('usage.cache_creation_input_tokens')),
  rule('usage.output_tokens_details.reasoning_tokens', translated('usage.output_tokens_details.thinking_tokens')),
  rule('*', ignored('the messages format has no such field')),
];
