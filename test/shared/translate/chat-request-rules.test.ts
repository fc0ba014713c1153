import { describe } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { parseChatRequest } from '#shared/formats/chat/parse-chat-request.ts';
import { readRequestRules } from './field-rules.ts';
import { translationBetween, upstreamsOf } from './translation-between.ts';
import { said, textBlock } from '../../helpers/formats/said.ts';
import { eachAlone, targetFor, testRules, topOf, type Example } from './hold-rule.ts';

const user = { role: 'user', content: 'hi' };
const base: JsonObject = { model: 'm', messages: [user], max_tokens: 100 };
const top = topOf(base);
const fn = (fields: JsonObject = {}) => ({ type: 'function', function: { name: 'f', ...fields } });
const tools = [fn({ parameters: { type: 'object' } }), fn({ name: 'g' })];

function history(added: Json[], before: Json[] = [user], without: Json[] = before): Example {
  return { with: { ...base, messages: [...before, ...added] }, without: { ...base, messages: without } };
}

/** Returns a user message with and without a content part; `field` is the field of the rule. */
function part(part: Json, field: string): Example {
  const message = (...parts: Json[]): JsonObject => ({ messages: [said('user', [textBlock('a'), ...parts])] });
  return top(message(part), message(), `messages[].content[].${field}`);
}

function imageWith(fields: JsonObject): Example {
  return top({ messages: [said('user', [{ ...image, ...fields }])] }, { messages: [said('user', [image])] });
}

function assistant(fields: JsonObject, path: string): Example {
  const message = { role: 'assistant', content: 'x' };
  return { ...history([{ ...message, ...fields }], [user], [user, message]), path: `messages[].${path}` };
}

const schemaFormat = (json_schema: JsonObject) => ({ type: 'json_schema', json_schema });

/** Returns a request with a schema as response format, with and without further fields. */
function schemaWith(fields: JsonObject, base: JsonObject = { schema: {} }): Example {
  return top({ response_format: schemaFormat({ ...base, ...fields }) }, { response_format: schemaFormat(base) });
}

const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
const customCall = { id: 'c', type: 'custom', custom: { name: 'f', input: 'x' } };
const pdf = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aa' };
const thinking = { type: 'enabled', budget_tokens: 2000 };
const sound = { data: 'QQ==', format: 'wav' };
const refusal = { type: 'refusal', refusal: 'no' };
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aa' } };

/** Fields that no translation reads. */
const sampling = 'seed frequency_penalty presence_penalty repetition_penalty min_p';
const caching = 'prompt_cache_key prompt_cache_retention prompt_cache_options';
const ofAnyValue = `${sampling} ${caching} include_reasoning separate_reasoning service_tier prediction moderation`;

const examples: Record<string, Example> = {
  model: { with: base, without: base },
  'messages[] system, developer, leading': history([user], [{ role: 'developer', content: 'd' }], [user]),
  'messages[] system, developer, later': history([{ role: 'system', content: 'd' }]),
  'messages[] user': history([{ role: 'user', content: 'b' }]),
  'messages[] assistant': history([{ role: 'assistant', content: 'b' }]),
  'messages[] tool': history(
    [{ role: 'tool', tool_call_id: 'c', content: 'r' }],
    [user, { role: 'assistant', tool_calls: [call] }],
  ),
  'messages[].name': history([{ ...user, name: 'n' }], [], [user]),
  'messages[].content[] text': part({ type: 'text', text: 'b' }, 'text'),
  'messages[].content[] image_url': part(image, 'image_url'),
  'messages[].content[].image_url.detail': imageWith({ image_url: { ...image.image_url, detail: 'low' } }),
  'messages[].content[] file, with data': part({ type: 'file', file: pdf }, 'file'),
  'messages[].content[] file, by id': part({ type: 'file', file: { file_id: 'x' } }, 'file'),
  'messages[].content[] input_audio': part({ type: 'input_audio', input_audio: sound }, 'input_audio'),
  'messages[].content[] refusal': assistant({ content: [textBlock('x'), refusal] }, 'content[].refusal'),
  'messages[].content[] of other types': part({ type: 'video_url', video_url: {} }, 'video_url'),
  'messages[].content[].cache_control': imageWith({ cache_control: { type: 'ephemeral' } }),
  'messages[].reasoning_content': assistant({ reasoning_content: 'hm' }, 'reasoning_content'),
  'messages[].reasoning': assistant({ reasoning: 'hm' }, 'reasoning'),
  'messages[].audio': assistant({ audio: { id: 'audio_1' } }, 'audio.id'),
  'messages[].content[].prompt_cache_breakpoint': imageWith({ prompt_cache_breakpoint: { mode: 'explicit' } }),
  'messages[].refusal': assistant({ refusal: 'no' }, 'refusal'),
  'messages[].tool_calls[]': assistant({ tool_calls: [call] }, 'tool_calls[]'),
  'messages[].tool_calls[] of custom tools': assistant({ tool_calls: [customCall] }, 'tool_calls[]'),
  'messages[].tool_calls[] of other types': assistant({ tool_calls: [{ id: 'c', type: 'shell' }] }, 'tool_calls[]'),
  'messages[].function_call': assistant({ function_call: { name: 'f', arguments: '{}' } }, 'function_call'),
  max_tokens: { with: base, without: { model: 'm', messages: [user] } },
  ...eachAlone(base, { max_completion_tokens: 7, temperature: 0.5, top_p: 0.5, top_k: 5, stop: 'END', stream: true }),
  ...eachAlone(base, { reasoning_effort: 'low', reasoning: { effort: 'low' }, user: 'u', safety_identifier: 'u' }),
  ...eachAlone(base, { thinking, chat_template_kwargs: { enable_thinking: false }, logit_bias: { 1: 1 } }),
  ...eachAlone(base, { metadata: { a: 'b' }, store: true, verbosity: 'low', audio: { voice: 'v' }, logprobs: true }),
  ...eachAlone(base, { top_logprobs: 2, functions: [{ name: 'f' }], function_call: 'auto', web_search_options: {} }),
  stream_options: top({ stream_options: { include_usage: true, x: 1 } }, { stream: true }),
  'tools[]': top({ tools }),
  'tools[].function.strict': top({ tools: [fn({ strict: true })] }, { tools: [fn()] }),
  'tools[] custom': top({ tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'text' } } }] }),
  'tools[] of other types': top({ tools: [{ type: 'shell' }] }),
  tool_choice: top({ tool_choice: 'required' }, { tools }),
  'tool_choice allowed_tools': top(
    { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [fn({ name: 'g' })] } },
    { tools },
  ),
  parallel_tool_calls: top({ parallel_tool_calls: false }, { tools }),
  'response_format json_schema': top({ response_format: schemaFormat({ schema: { type: 'string' } }) }),
  'response_format.json_schema.name': schemaWith({ name: 'n' }),
  'response_format.json_schema.description': schemaWith({ description: 'd' }, { name: 'n', schema: {} }),
  'response_format.json_schema.strict': schemaWith({ strict: true }),
  'response_format json_object': top({ response_format: { type: 'json_object' } }),
  'response_format of other types': top({ response_format: { type: 'grammar', grammar: 'root ::= "a"' } }),
  'n above 1': top({ n: 2 }, {}, 'n'),
  ...Object.fromEntries(ofAnyValue.split(' ').map((field) => [field, top({ [field]: 1 })])),
  'modalities, text': top({ modalities: ['text'] }),
  'modalities, audio': top({ modalities: ['text', 'audio'] }),
  "* that names what the provider's account has stored": top({ previous_response_id: 'r' }, {}, 'previous_response_id'),
  '*': top({ brand_new: { a: [1] } }, {}, 'brand_new'),
};

describe.each(upstreamsOf('chat'))("the rules for a chat client's request to a %s upstream", (upstream) => {
  const { translateRequest: request } = translationBetween('chat', upstream);
  testRules(readRequestRules('chat', upstream), examples, (body, field, count) =>
    request(parseChatRequest(body), { model: targetFor(field, count), maxOutput: 4096 }),
  );
});
