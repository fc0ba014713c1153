import { randomBytes } from 'node:crypto';
import { describe } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { createSealer } from '#shared/core/seal.ts';
import { createCompactionItem } from '#shared/translate/responses/compaction.ts';
import { writeReasoning } from '#shared/translate/responses/sealed-thinking.ts';
import { readRequestRules } from './field-rules.ts';
import { translationBetween, upstreamsOf } from './translation-between.ts';
import { eachAlone, targetFor, testRules, topOf, type Example } from './hold-rule.ts';

const { seal, unseal } = createSealer(randomBytes(32));
const user = { type: 'message', role: 'user', content: 'hi' };
const base: JsonObject = { model: 'm', input: [user], max_output_tokens: 100 };
const top = topOf(base);
const tools = [
  { type: 'function', name: 'f', parameters: { type: 'object' } },
  { type: 'function', name: 'g', parameters: { type: 'object' } },
];

/** Returns a history with and without an item before an answer. */
function beforeAnswer(item: JsonObject): Example {
  return history([item, answer], [user], [user, answer]);
}

/** Returns a history that ends with an item, with and without further fields of the item. */
function itemWith(fields: JsonObject, item: JsonObject, before: JsonObject[] = [user]): Example {
  return history([{ ...item, ...fields }], before, [...before, item]);
}

function history(added: JsonObject[], before: JsonObject[] = [user], without: JsonObject[] = before): Example {
  return top({ input: [...before, ...added] }, { input: without });
}

function part(part: JsonObject, plain?: JsonObject): Example {
  const text = { type: 'input_text', text: 'a' };
  const said = (...content: Json[]): JsonObject => ({ input: [{ ...user, content }] });
  return top(said(text, part), plain ? said(text, plain) : said(text));
}

function thinking(fields: JsonObject): Example {
  return top({ reasoning: { effort: 'low', ...fields } }, { reasoning: { effort: 'low' } });
}

/** Returns a request with one tool, with and without further fields of the tool. */
function tool(fields: JsonObject): Example {
  return top({ tools: [{ ...tools[0], ...fields }] }, { tools: [tools[0] ?? {}] });
}

const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' };
const searchCall = { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: {} };
const output = { type: 'function_call_output', call_id: 'c', output: 'r' };
const image = { type: 'input_image', image_url: 'data:image/png;base64,aa' };
const file = { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' };
const mcp = { type: 'mcp', server_label: 'w', server_url: 'https://w.example', authorization: 'k' };
const mcpCall = { type: 'mcp_call', id: 'mcp_rtr_1_0', server_label: 'w', name: 'f', arguments: '{}', output: 'o' };
const search = { type: 'tool_search', execution: 'client', parameters: { type: 'object' } };
const answer = { type: 'message', role: 'assistant', content: 'x' };
const said = { type: 'output_text', text: 'x' };
const reasoning = { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] };
const summary = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] };
const signed = seal(writeReasoning({ text: 'hm', sealed: { model: 'target', signature: 's' } }));
const schema = { type: 'json_schema', name: 'n', schema: { type: 'object' } };

/** Fields that no translation reads. */
const ofAnyValue = [
  ...'metadata truncation context_management service_tier moderation image access_programs client_metadata'.split(' '),
  ...'conversation prompt background background_options prompt_cache_retention max_tool_calls'.split(' '),
];

const examples: Record<string, Example> = {
  model: { with: base, without: base },
  input: { with: { ...base, input: 'hello' }, without: base },
  'input[] message, system, developer, leading': history([user], [{ role: 'developer', content: 'd' }], [user]),
  'input[] message, system, developer, later': history([{ role: 'system', content: 'd' }]),
  'input[] message, user': history([{ role: 'user', content: 'b' }]),
  'input[] message, assistant': history([answer]),
  'input[].id': itemWith({ id: 'msg_1' }, user, []),
  'input[].status': itemWith({ status: 'completed' }, answer),
  'input[].caller': itemWith({ caller: { type: 'direct' } }, call),
  'input[].async': itemWith({ async: true }, call),
  'input[].execution': itemWith(
    { execution: 'client' },
    { type: 'tool_search_output', call_id: 's', tools: [], execution: 'server' },
    [user, searchCall],
  ),
  'input[].content[].annotations': itemWith(
    { content: [{ ...said, annotations: [{ type: 'file_path', file_id: 'f', index: 1 }] }] },
    { ...answer, content: [{ ...said, annotations: [] }] },
  ),
  'input[].content[].logprobs': itemWith(
    { content: [{ ...said, logprobs: [{ token: 'x', logprob: -1, bytes: [1] }] }] },
    { ...answer, content: [said] },
  ),
  'input[].phase': itemWith({ phase: 'commentary' }, answer),
  'input[].content[] input_text, output_text': part({ type: 'input_text', text: 'b' }),
  'input[].content[] refusal': history([{ ...answer, content: [{ type: 'refusal', refusal: 'no' }] }]),
  'input[].content[] input_image': part(image),
  'input[].content[] input_image, by id': part({ type: 'input_image', file_id: 'file-1' }),
  'input[].content[].detail': part({ ...image, detail: 'low' }, image),
  'input[].content[] input_file, with data': part(file),
  'input[].content[] input_file, by URL': part({ type: 'input_file', file_url: 'https://example.com/a.pdf' }),
  'input[].content[] input_file, by id': part({ type: 'input_file', file_id: 'file-1' }),
  'input[].content[] of other types': part({ type: 'input_audio', input_audio: { data: 'QQ==', format: 'wav' } }),
  'input[].content[].prompt_cache_breakpoint': part({ ...image, prompt_cache_breakpoint: { mode: 'explicit' } }, image),
  'input[] reasoning': beforeAnswer({ ...reasoning, encrypted_content: signed }),
  'input[] reasoning, without signature': beforeAnswer(reasoning),
  'input[] reasoning, summary alone': beforeAnswer(summary),
  'input[] function_call': history([call]),
  'input[] custom_tool_call': history([{ type: 'custom_tool_call', call_id: 'c', name: 'p', input: 'x' }]),
  'input[] tool_search_call': history([{ ...searchCall, arguments: { query: 'q' } }]),
  'input[] function_call_output, custom_tool_call_output': history([output], [user, call]),
  'input[] tool_search_output': history(
    [{ type: 'tool_search_output', call_id: 's', execution: 'client', tools: [tools[0] ?? {}] }],
    [user, searchCall],
  ),
  'input[] additional_tools': history([user], [{ type: 'additional_tools', role: 'developer', tools }], [user]),
  'input[] web_search_call, file_search_call, code_interpreter_call, image_generation_call, mcp_call, mcp_list_tools, mcp_approval_request, mcp_approval_response':
    beforeAnswer({ type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } }),
  'input[] web_search_call, mcp_call and others that the router has run': { ...beforeAnswer(mcpCall), path: '' },
  'input[] compaction': history([createCompactionItem({ id: 'resp_1', seal }, 'so far')]),
  'input[] compaction_trigger': history([{ type: 'compaction_trigger' }]),
  'input[] of other types': history([{ type: 'computer_call', call_id: 'c', action: {} }]),
  max_output_tokens: { with: base, without: { model: 'm', input: [user] } },
  ...eachAlone(base, { instructions: 'I', temperature: 0.5, top_p: 0.5, stream: true, user: 'u', top_logprobs: 2 }),
  ...eachAlone(base, { safety_identifier: 'u', prompt_cache_key: 'k', previous_response_id: 'resp_1' }),
  stream_options: top({ stream_options: { include_obfuscation: true } }, { stream: true }),
  'tools[] function': top({ tools }),
  'tools[].strict': tool({ strict: true }),
  'tools[] custom': top({ tools: [{ type: 'custom', name: 'p' }] }),
  'tools[] namespace': top({ tools: [{ type: 'namespace', name: 'n', tools }] }),
  'tools[] tool_search, by the client': top({ tools: [search] }),
  'tools[] web_search beside tools of the client': top(
    { tools: [...tools, { type: 'web_search' }] },
    { tools },
    'tools[]',
  ),
  'tools[].user_location': top(
    { tools: [...tools, { type: 'web_search', user_location: { type: 'approximate', country: 'NO', city: null } }] },
    { tools: [...tools, { type: 'web_search' }] },
  ),
  'tools[] web_search, without access to the web': top({ tools: [{ type: 'web_search', external_web_access: false }] }),
  'tools[] web_search alone': top({ tools: [{ type: 'web_search', search_context_size: 'low' }] }),
  'tools[] mcp': top({ tools: [mcp] }),
  'tools[] of other types': top({ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }),
  tool_choice: top({ tool_choice: 'required' }, { tools }),
  'tool_choice allowed_tools': top(
    { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'g' }] } },
    { tools },
  ),
  parallel_tool_calls: top({ parallel_tool_calls: false }, { tools }),
  'reasoning.effort': top({ reasoning: { effort: 'low' } }),
  'reasoning.summary': thinking({ summary: 'auto' }),
  'tools[].allowed_callers': tool({ allowed_callers: ['direct'] }),
  'tools[].async': tool({ async: true }),
  'tools[].defer_loading': tool({ defer_loading: true }),
  'tools[].output_schema': tool({ output_schema: { type: 'object' } }),
  'tools[].description, of a namespace': top(
    { tools: [{ type: 'namespace', name: 'n', description: 'd', tools }] },
    { tools: [{ type: 'namespace', name: 'n', description: 'e', tools }] },
  ),
  'reasoning.mode': thinking({ mode: 'pro' }),
  'reasoning.generate_summary': thinking({ generate_summary: 'auto' }),
  'reasoning.context': thinking({ context: 'all_turns' }),
  'text.format json_schema': top({ text: { format: schema } }),
  'text.format.name': top({ text: { format: { ...schema, name: 'other' } } }, { text: { format: schema } }),
  'text.format.strict': top({ text: { format: { ...schema, strict: true } } }, { text: { format: schema } }),
  'text.format json_object': top({ text: { format: { type: 'json_object' } } }),
  'text.verbosity': top({ text: { verbosity: 'low' } }),
  prompt_cache_options: top({ prompt_cache_options: { ttl: '30m' } }, { prompt_cache_key: 'k' }),
  'prompt_cache_options.prewarm': top({ prompt_cache_options: { prewarm: true } }, { prompt_cache_options: {} }),
  'prompt_cache_options.comparison_response_id': top(
    { prompt_cache_options: { comparison_response_id: 'resp_1' } },
    { prompt_cache_options: {} },
  ),
  'include reasoning.encrypted_content': top({ include: ['reasoning.encrypted_content'] }, { store: false }),
  'include of other parts': top({ include: ['file_search_call.results'] }, { store: false }),
  'include message.output_text.logprobs': top({ include: ['message.output_text.logprobs'] }, { store: false }),
  ...Object.fromEntries(ofAnyValue.map((field) => [field, top({ [field]: 1 })])),
  store: top({ store: true }, { store: false }),
  '*': top({ brand_new: { a: [1] } }, {}, 'brand_new'),
};

describe.each(upstreamsOf('responses'))("the rules for a Responses client's request to a %s upstream", (upstream) => {
  const { translateRequest: request } = translationBetween('responses', upstream);
  const traits = { maxOutput: 4096, compacts: true, encrypts: true, searches: true, unseal };
  testRules(readRequestRules('responses', upstream), examples, (body, field, count) =>
    request(body, { model: targetFor(field, count), ...traits }),
  );
});
