import { describe } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { readAnswerRules } from './field-rules.ts';
import { clientsOf, translationBetween } from './translation-between.ts';
import { testRules, type Example } from './hold-rule.ts';

const call = { id: 'c', type: 'function', function: { name: 'f', arguments: { a: 1 } } };
const cited = { type: 'url_citation', url_citation: { url: 'https://a', title: 'a', start_index: 0, end_index: 1 } };
const signed = { extra_content: { google: { thought_signature: 's' } } };

function chatAnswer(message: JsonObject, choice: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'engine',
    choices: [{ index: 0, message: { role: 'assistant', content: 'a', ...message }, finish_reason: 'stop', ...choice }],
    usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 },
    ...more,
  };
}

/** Returns an answer whose message has these fields, and an answer whose message has fewer fields. */
function message(fields: JsonObject, without: JsonObject = {}): Example {
  return { with: chatAnswer(fields), without: chatAnswer(without) };
}

function choice(fields: JsonObject): Example {
  return { with: chatAnswer({}, fields), without: chatAnswer({}) };
}

function whole(fields: JsonObject, without: JsonObject = {}): Example {
  return { with: chatAnswer({}, {}, fields), without: chatAnswer({}, {}, without) };
}

function chatUsage(usage: JsonObject): Example {
  return whole({ usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13, ...usage } });
}

const chatExamples: Record<string, Example> = {
  id: whole({}),
  model: whole({}),
  created: whole({}, { created: 2 }),
  'choices[].message.content': message({ content: 'b' }),
  'choices[].message.content beside tool calls': message({ tool_calls: [call] }, { tool_calls: [call], content: null }),
  'choices[].message.reasoning_content': message({ reasoning_content: 'hm' }),
  'choices[].message.reasoning': message({ reasoning: 'hm' }),
  'choices[].message.refusal': message({ refusal: 'no' }),
  'choices[].message.tool_calls': message({ tool_calls: [call] }),
  'choices[].message.annotations': message({ annotations: [cited] }),
  'choices[].message.audio': message({ audio: { id: 'audio_1', data: 'QQ==' } }),
  'choices[].message.function_call': message({ function_call: { name: 'f', arguments: '{}' } }),
  'choices[].logprobs.refusal': choice({ logprobs: { refusal: [{ token: 'a', logprob: -1 }] } }),
  metadata: whole({ metadata: { a: 'b' } }),
  moderation: whole({ moderation: { model: 'm' } }),
  service_tier: whole({ service_tier: 'flex' }),
  system_fingerprint: whole({ system_fingerprint: 'fp' }),
  'usage of other kinds of tokens': {
    ...chatUsage({ prompt_tokens_details: { audio_tokens: 2 } }),
    path: 'usage.prompt_tokens_details.audio_tokens',
  },
  'choices[].message.extra_content': message(signed),
  'choices[].message.reasoning_details': message({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'd' }] }),
  'choices[].message.tool_calls[].extra_content': message(
    { tool_calls: [{ ...call, ...signed }] },
    { tool_calls: [call] },
  ),
  'choices[].finish_reason': choice({ finish_reason: 'length' }),
  'choices[].stop_reason': choice({ stop_reason: 'END' }),
  'choices[].matched_stop': choice({ matched_stop: 'END' }),
  'choices[].logprobs': choice({ logprobs: { content: [{ token: 'a', logprob: -1 }] } }),
  'usage.prompt_tokens': chatUsage({ prompt_tokens: 7 }),
  'usage.completion_tokens': chatUsage({ completion_tokens: 7 }),
  'usage.prompt_tokens_details.cached_tokens': chatUsage({ prompt_tokens_details: { cached_tokens: 2 } }),
  'usage.prompt_tokens_details.cache_write_tokens': chatUsage({ prompt_tokens_details: { cache_write_tokens: 2 } }),
  'usage.completion_tokens_details.reasoning_tokens': chatUsage({ completion_tokens_details: { reasoning_tokens: 2 } }),
  '*': { ...whole({ timings: { n: 1 } }), path: 'timings' },
};

function messagesAnswer(content: JsonObject[], more: JsonObject = {}): JsonObject {
  return {
    id: 'x',
    type: 'message',
    role: 'assistant',
    model: 'engine',
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 4 },
    ...more,
  };
}

const text = { type: 'text', text: 'a' };
const use = { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } };
const thinking = { type: 'thinking', thinking: 'hm' };
const signedThinking = { ...thinking, signature: 's' };
const searching = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } };
const plain = messagesAnswer([text]);

function added(block: JsonObject, path?: string): Example {
  return { with: messagesAnswer([text, block]), without: plain, ...(path !== undefined && { path }) };
}

function ended(fields: JsonObject, without: JsonObject = {}): Example {
  return { with: messagesAnswer([text], fields), without: messagesAnswer([text], without) };
}

const refusal = (stop_details: JsonObject): JsonObject => ({ stop_reason: 'refusal', stop_details });

function messagesUsage(usage: JsonObject): Example {
  return ended({ usage: { input_tokens: 9, output_tokens: 4, ...usage } });
}

const messagesExamples: Record<string, Example> = {
  id: { with: plain, without: plain },
  model: { with: plain, without: plain },
  'content[].text': added({ type: 'text', text: 'b' }),
  'content[].text beside tool calls': { with: messagesAnswer([text, use]), without: messagesAnswer([use]) },
  'content[].citations': { with: messagesAnswer([{ ...text, citations: [{ x: 1 }] }]), without: plain },
  'content[].thinking': added(signedThinking),
  'content[].signature': { with: messagesAnswer([signedThinking]), without: messagesAnswer([thinking]) },
  'content[] redacted_thinking': added({ type: 'redacted_thinking', data: 'd' }, 'content[].data'),
  'content[] tool_use': added(use, 'content[].input'),
  'content[] server_tool_use, of a search': added(searching, 'content[].input'),
  'content[] of other types': added({ type: 'web_search_tool_result', content: [] }, 'content[].content'),
  stop_reason: ended({ stop_reason: 'max_tokens' }),
  stop_sequence: ended({ stop_sequence: 'END' }),
  'stop_details.explanation': ended(refusal({ explanation: 'no' }), { stop_reason: 'refusal' }),
  'usage.input_tokens': messagesUsage({ input_tokens: 7 }),
  'usage.output_tokens': messagesUsage({ output_tokens: 7 }),
  'usage.cache_read_input_tokens': messagesUsage({ cache_read_input_tokens: 2 }),
  'usage.cache_creation_input_tokens': messagesUsage({ cache_creation_input_tokens: 2 }),
  container: ended({ container: { id: 'c' } }),
  diagnostics: ended({ diagnostics: { cache_miss_reason: null } }),
  'stop_details.category': ended(refusal({ explanation: 'no', category: 'c' }), refusal({ explanation: 'no' })),
  'usage.cache_creation': messagesUsage({ cache_creation: { ephemeral_1h_input_tokens: 2 } }),
  'usage.server_tool_use': messagesUsage({ server_tool_use: { web_search_requests: 2 } }),
  'usage of other kinds': { ...messagesUsage({ service_tier: 'batch' }), path: 'usage.service_tier' },
  'usage.output_tokens_details.thinking_tokens': messagesUsage({ output_tokens_details: { thinking_tokens: 2 } }),
  '*': { ...ended({ further: { id: 'c' } }), path: 'further' },
};

function response(output: JsonObject[], more: JsonObject = {}): JsonObject {
  return {
    id: 'resp_up',
    object: 'response',
    created_at: 1,
    status: 'completed',
    incomplete_details: null,
    model: 'engine',
    output,
    store: false,
    previous_response_id: null,
    usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
    ...more,
  };
}

const said = (content: JsonObject[]): JsonObject => ({ id: 'msg_1', type: 'message', role: 'assistant', content });
const outputText = { type: 'output_text', text: 'a', annotations: [] };
const thought = { id: 'rs_1', type: 'reasoning', summary: [] };
const fnCall = { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' };
const answered = response([said([outputText])]);

function item(added: JsonObject, path = 'output[]'): Example {
  return { with: response([added, said([outputText])]), without: answered, path };
}

function part(content: JsonObject): Example {
  return { with: response([said([content])]), without: answered };
}

function field(fields: JsonObject, without: JsonObject = {}): Example {
  return { with: response([said([outputText])], fields), without: response([said([outputText])], without) };
}

function responseUsage(usage: JsonObject): Example {
  return field({ usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13, ...usage } });
}

const responsesExamples: Record<string, Example> = {
  id: field({}),
  model: field({}),
  created_at: field({}, { created_at: 2 }),
  'output[] message': part({ ...outputText, text: 'b' }),
  'output[] message beside tool calls': { with: response([said([outputText]), fnCall]), without: response([fnCall]) },
  'output[].content[].annotations': part({ ...outputText, annotations: [{ type: 'url_citation', url: 'https://x' }] }),
  'output[].content[].refusal': part({ type: 'refusal', refusal: 'no' }),
  'output[] reasoning, summary': item({ ...thought, summary: [{ type: 'summary_text', text: 'hm' }] }),
  'output[] reasoning, content': item({ ...thought, content: [{ type: 'reasoning_text', text: 'hm' }] }),
  'output[].encrypted_content': item({ ...thought, encrypted_content: 'gAAA' }, 'output[].encrypted_content'),
  'output[] function_call': item(fnCall),
  'output[] of other types': item({ id: 'ws_1', type: 'web_search_call', status: 'completed' }),
  'incomplete_details.reason': field({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
  store: field({}, { store: true }),
  previous_response_id: field({}, { previous_response_id: 'resp_0' }),
  completed_at: field({ completed_at: 9 }),
  input_transformations: field({ input_transformations: [{ type: 'x' }] }),
  prompt_cache_diagnostics: field({ prompt_cache_diagnostics: { type: 'cache_miss' } }),
  tool_usage: field({ tool_usage: { web_search: { num_requests: 1 } } }),
  'usage of other kinds of tokens': { ...responseUsage({ further: { tokens: 2 } }), path: 'usage.further' },
  'usage.input_tokens': responseUsage({ input_tokens: 7 }),
  'usage.output_tokens': responseUsage({ output_tokens: 7 }),
  'usage.input_tokens_details.cached_tokens': responseUsage({ input_tokens_details: { cached_tokens: 2 } }),
  'usage.input_tokens_details.cache_write_tokens': responseUsage({ input_tokens_details: { cache_write_tokens: 2 } }),
  'usage.output_tokens_details.reasoning_tokens': responseUsage({ output_tokens_details: { reasoning_tokens: 2 } }),
  '*': { ...field({ moderation: { x: 1 } }), path: 'moderation' },
};

describe.each([
  ['chat', chatExamples],
  ['messages', messagesExamples],
  ['responses', responsesExamples],
] as const)("the rules for a %s upstream's answer", (upstream, examples) => {
  describe.each(clientsOf(upstream))('to a %s client', (client) => {
    const { translateReply: reply } = translationBetween(client, upstream);
    testRules(readAnswerRules(client, upstream), examples, (body, name, count) => {
      const at = ['id', 'model'].includes(name) ? count : 0;
      const created = name.startsWith('created') && client !== 'messages' ? count : 0;
      const seal = (sealed: string): string => sealed;
      return reply(body, { id: `id-${at}`, model: `model-${at}`, created, seal, origin: 'here' }).body;
    });
  });
});
