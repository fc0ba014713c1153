import { type FieldRule, ignored, passed, refused, rule, translated } from './field-rule.ts';

const noSuchSampling = 'sampling that the format does not have';
const platformHint = "a hint for one vendor's own platform";

/** What becomes of the fields of a chat client's request. */
export const chatRequestRules: readonly FieldRule[] = [
  rule(
    'model',
    translated('model', "the upstream's name of the chosen model"),
    translated('model', "the upstream's name of the chosen model"),
  ),
  rule('messages[] system, developer, leading', passed, translated('system')),
  rule('messages[] system, developer, later', passed, translated('messages[].role', '`system`, in place')),
  rule(
    'messages[] user',
    passed,
    translated('messages[].content', 'an empty text is left out: that format refuses it'),
  ),
  rule(
    'messages[] assistant',
    passed,
    translated('messages[].content', 'an empty text is left out: that format refuses it'),
  ),
  rule(
    'messages[] tool',
    passed,
    translated(
      'messages[].content[].tool_use_id',
      'results that follow each other and the user message after them become one user turn of `tool_result` blocks and the rest',
    ),
  ),
  rule('messages[].name', passed, ignored('the format has no names of speakers')),
  rule('messages[].content[] text', passed, translated('messages[].content[].text')),
  rule(
    'messages[].content[] image_url',
    passed,
    translated('messages[].content[].source', 'JPEG, PNG, GIF and WebP, by URL or base64; others are refused'),
  ),
  rule('messages[].content[].image_url.detail', passed, ignored('the format has one level of detail')),
  rule(
    'messages[].content[] file, with data',
    passed,
    translated('messages[].content[].source', 'a `document`: PDF or plain text; others are refused'),
  ),
  rule('messages[].content[] file, by id', passed, refused('a file other than a PDF or plain text as base64')),
  rule('messages[].content[] input_audio', passed, refused('audio')),
  rule('messages[].content[] refusal', passed, translated('messages[].content[].text')),
  rule('messages[].content[] of other types', passed, refused('content of that type')),
  rule('messages[].content[].cache_control', passed, passed),
  rule('messages[].reasoning_content', passed, ignored('that format takes thinking back only with its signature')),
  rule('messages[].reasoning', passed, ignored('that format takes thinking back only with its signature')),
  rule(
    'messages[].tool_calls[]',
    passed,
    translated(
      'messages[].content[].input',
      'a `tool_use`; arguments that are not a JSON object become `{"_raw": …}`; characters that the format does not take in ids are written by their code',
    ),
  ),
  rule('messages[].tool_calls[] of other types', passed, refused('tool calls of that type')),
  rule('messages[].function_call', passed, refused('the older form of tool calls')),
  rule('max_tokens', passed, translated('max_tokens', "without any limit: 8192, or the model's maximum if less")),
  rule('max_completion_tokens', passed, translated('max_tokens', 'goes before `max_tokens`')),
  rule('temperature', passed, translated('temperature', 'at most 1; left out when the model is asked to think')),
  rule('top_p', passed, translated('top_p', 'left out when the model is asked to think')),
  rule('top_k', passed, translated('top_k', 'left out when the model is asked to think')),
  rule('stop', passed, translated('stop_sequences')),
  rule('stream', translated('stream_options.include_usage', 'and passed: streams always tell their usage'), passed),
  rule('stream_options', passed, ignored('a stream of that format always tells its usage')),
  rule('tools[]', passed, translated('tools[].input_schema')),
  rule('tools[].function.strict', passed, translated('tools[].strict')),
  rule('tools[] of other types', passed, refused('tools of that type')),
  rule('tool_choice', passed, translated('tool_choice', '`required` is `any`; left out when there are no tools')),
  rule('tool_choice allowed_tools', passed, translated('tools[].name', 'only these tools are offered')),
  rule('parallel_tool_calls', passed, translated('tool_choice.disable_parallel_tool_use')),
  rule(
    'reasoning_effort',
    passed,
    translated(
      'thinking',
      '`adaptive` and `output_config.effort`; `none` is `disabled`, `minimal` is `low`; `disabled` when a tool is forced',
    ),
  ),
  rule('reasoning', passed, translated('thinking', 'its `effort`, like `reasoning_effort`')),
  rule('thinking', passed, passed),
  rule(
    'chat_template_kwargs',
    passed,
    translated('thinking', 'its `enable_thinking` or `thinking`; the rest is for templates'),
  ),
  rule('response_format json_schema', passed, translated('output_config.format.schema')),
  rule('response_format.json_schema.name', passed, ignored('formats have no names in that format')),
  rule('response_format.json_schema.strict', passed, ignored('formats are always strict in that format')),
  rule('response_format json_object', passed, translated('system', 'an instruction')),
  rule('user', passed, translated('metadata.user_id', 'as SHA-256')),
  rule('safety_identifier', passed, translated('metadata.user_id', 'as SHA-256; goes before `user`')),
  rule('n', passed, ignored('only 1 is let in')),
  ...['seed', 'frequency_penalty', 'presence_penalty', 'repetition_penalty', 'logit_bias', 'min_p'].map((field) =>
    rule(field, passed, ignored(noSuchSampling)),
  ),
  ...['include_reasoning', 'separate_reasoning'].map((field) =>
    rule(field, passed, ignored('thinking is always told apart in that format')),
  ),
  ...['metadata', 'store', 'service_tier', 'prediction', 'verbosity', 'prompt_cache_key', 'prompt_cache_retention'].map(
    (field) => rule(field, passed, ignored(platformHint)),
  ),
  rule('modalities, text', passed, ignored('text is what that format has')),
  rule('modalities, audio', passed, refused('audio output')),
  rule('audio', passed, refused('a wish for audio output')),
  rule('logprobs', passed, refused('a wish for log probabilities')),
  rule('top_logprobs', passed, refused('a wish for log probabilities')),
  rule('functions', passed, refused('the older form of tools')),
  rule('function_call', passed, refused('the older form of tool choice')),
  rule('web_search_options', passed, refused('a search that the upstream itself runs')),
  rule('*', passed, passed),
];
