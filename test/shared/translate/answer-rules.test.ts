import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { clientsOf, translationBetween } from './translation-between.ts';
import { holdRule, type Example } from './hold-rule.ts';

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

function chatUsage(usage: JsonObject): Example {
  const plain = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
  return { with: chatAnswer({}, {}, { usage: { ...plain, ...usage } }), without: chatAnswer({}) };
}

const chatExamples: Record<string, Example> = {
  id: { with: chatAnswer({}), without: chatAnswer({}) },
  model: { with: chatAnswer({}), without: chatAnswer({}) },
  created: { with: chatAnswer({}), without: chatAnswer({}, {}, { created: 2 }) },
  'choices[].message.content': { with: chatAnswer({ content: 'b' }), without: chatAnswer({}) },
  'choices[].message.content beside tool calls': {
    with: chatAnswer({ tool_calls: [call] }),
    without: chatAnswer({ tool_calls: [call], content: null }),
  },
  'choices[].message.reasoning_content': { with: chatAnswer({ reasoning_content: 'hm' }), without: chatAnswer({}) },
  'choices[].message.reasoning': { with: chatAnswer({ reasoning: 'hm' }), without: chatAnswer({}) },
  'choices[].message.refusal': { with: chatAnswer({ refusal: 'no' }), without: chatAnswer({}) },
  'choices[].message.tool_calls': { with: chatAnswer({ tool_calls: [call] }), without: chatAnswer({}) },
  'choices[].message.annotations': { with: chatAnswer({ annotations: [cited] }), without: chatAnswer({}) },
  'choices[].message.audio': { with: chatAnswer({ audio: { id: 'audio_1', data: 'QQ==' } }), without: chatAnswer({}) },
  'choices[].message.function_call': {
    with: chatAnswer({ function_call: { name: 'f', arguments: '{}' } }),
    without: chatAnswer({}),
  },
  'choices[].logprobs.refusal': {
    with: chatAnswer({}, { logprobs: { refusal: [{ token: 'a', logprob: -1 }] } }),
    without: chatAnswer({}),
  },
  metadata: { with: chatAnswer({}, {}, { metadata: { a: 'b' } }), without: chatAnswer({}) },
  moderation: { with: chatAnswer({}, {}, { moderation: { model: 'm' } }), without: chatAnswer({}) },
  service_tier: { with: chatAnswer({}, {}, { service_tier: 'flex' }), without: chatAnswer({}) },
  system_fingerprint: { with: chatAnswer({}, {}, { system_fingerprint: 'fp' }), without: chatAnswer({}) },
  'usage of other kinds of tokens': {
    ...chatUsage({ prompt_tokens_details: { audio_tokens: 2 } }),
    path: 'usage.prompt_tokens_details.audio_tokens',
  },
  'choices[].message.extra_content': { with: chatAnswer(signed), without: chatAnswer({}) },
  'choices[].message.reasoning_details': {
    with: chatAnswer({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'd' }] }),
    without: chatAnswer({}),
  },
  'choices[].message.tool_calls[].extra_content': {
    with: chatAnswer({ tool_calls: [{ ...call, ...signed }] }),
    without: chatAnswer({ tool_calls: [call] }),
  },
  'choices[].finish_reason': { with: chatAnswer({}, { finish_reason: 'length' }), without: chatAnswer({}) },
  'choices[].stop_reason': { with: chatAnswer({}, { stop_reason: 'END' }), without: chatAnswer({}) },
  'choices[].matched_stop': { with: chatAnswer({}, { matched_stop: 'END' }), without: chatAnswer({}) },
  'choices[].logprobs': {
    with: chatAnswer({}, { logprobs: { content: [{ token: 'a', logprob: -1 }] } }),
    without: chatAnswer({}),
  },
  'usage.prompt_tokens': chatUsage({ prompt_tokens: 7 }),
  'usage.completion_tokens': chatUsage({ completion_tokens: 7 }),
  'usage.prompt_tokens_details.cached_tokens': chatUsage({ prompt_tokens_details: { cached_tokens: 2 } }),
  'usage.prompt_tokens_details.cache_write_tokens': chatUsage({ prompt_tokens_details: { cache_write_tokens: 2 } }),
  'usage.completion_tokens_details.reasoning_tokens': chatUsage({ completion_tokens_details: { reasoning_tokens: 2 } }),
  '*': { with: chatAnswer({}, {}, { timings: { n: 1 } }), without: chatAnswer({}), path: 'timings' },
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
const plain = messagesAnswer([text]);

function added(block: JsonObject, path?: string): Example {
  return { with: messagesAnswer([text, block]), without: plain, ...(path !== undefined && { path }) };
}

function messagesUsage(usage: JsonObject): Example {
  return { with: messagesAnswer([text], { usage: { input_tokens: 9, output_tokens: 4, ...usage } }), without: plain };
}

const messagesExamples: Record<string, Example> = {
  id: { with: plain, without: plain },
  model: { with: plain, without: plain },
  'content[].text': added({ type: 'text', text: 'b' }),
  'content[].text beside tool calls': { with: messagesAnswer([text, use]), without: messagesAnswer([use]) },
  'content[].citations': { with: messagesAnswer([{ ...text, citations: [{ x: 1 }] }]), without: plain },
  'content[].thinking': added({ type: 'thinking', thinking: 'hm', signature: 's' }),
  'content[].signature': {
    with: messagesAnswer([{ type: 'thinking', thinking: 'hm', signature: 's' }]),
    without: messagesAnswer([{ type: 'thinking', thinking: 'hm' }]),
  },
  'content[] redacted_thinking': added({ type: 'redacted_thinking', data: 'd' }, 'content[].data'),
  'content[] tool_use': added(use, 'content[].input'),
  'content[] server_tool_use, of a search': added(
    { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
    'content[].input',
  ),
  'content[] of other types': added({ type: 'web_search_tool_result', content: [] }, 'content[].content'),
  stop_reason: { with: messagesAnswer([text], { stop_reason: 'max_tokens' }), without: plain },
  stop_sequence: { with: messagesAnswer([text], { stop_sequence: 'END' }), without: plain },
  'stop_details.explanation': {
    with: messagesAnswer([text], { stop_reason: 'refusal', stop_details: { explanation: 'no' } }),
    without: messagesAnswer([text], { stop_reason: 'refusal' }),
  },
  'usage.input_tokens': messagesUsage({ input_tokens: 7 }),
  'usage.output_tokens': messagesUsage({ output_tokens: 7 }),
  'usage.cache_read_input_tokens': messagesUsage({ cache_read_input_tokens: 2 }),
  'usage.cache_creation_input_tokens': messagesUsage({ cache_creation_input_tokens: 2 }),
  container: { with: messagesAnswer([text], { container: { id: 'c' } }), without: plain },
  diagnostics: { with: messagesAnswer([text], { diagnostics: { cache_miss_reason: null } }), without: plain },
  'stop_details.category': {
    with: messagesAnswer([text], { stop_reason: 'refusal', stop_details: { explanation: 'no', category: 'c' } }),
    without: messagesAnswer([text], { stop_reason: 'refusal', stop_details: { explanation: 'no' } }),
  },
  'usage.cache_creation': messagesUsage({ cache_creation: { ephemeral_1h_input_tokens: 2 } }),
  'usage.server_tool_use': messagesUsage({ server_tool_use: { web_search_requests: 2 } }),
  'usage of other kinds': { ...messagesUsage({ service_tier: 'batch' }), path: 'usage.service_tier' },
  'usage.output_tokens_details.thinking_tokens': messagesUsage({ output_tokens_details: { thinking_tokens: 2 } }),
  '*': { with: messagesAnswer([text], { further: { id: 'c' } }), without: plain, path: 'further' },
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

function responseUsage(usage: JsonObject): Example {
  return {
    with: response([said([outputText])], { usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13, ...usage } }),
    without: answered,
  };
}

const responsesExamples: Record<string, Example> = {
  id: { with: answered, without: answered },
  model: { with: answered, without: answered },
  created_at: { with: answered, without: response([said([outputText])], { created_at: 2 }) },
  'output[] message': { with: response([said([{ ...outputText, text: 'b' }])]), without: answered },
  'output[] message beside tool calls': { with: response([said([outputText]), fnCall]), without: response([fnCall]) },
  'output[].content[].annotations': {
    with: response([said([{ ...outputText, annotations: [{ type: 'url_citation', url: 'https://x' }] }])]),
    without: answered,
  },
  'output[].content[].refusal': { with: response([said([{ type: 'refusal', refusal: 'no' }])]), without: answered },
  'output[] reasoning, summary': item({ ...thought, summary: [{ type: 'summary_text', text: 'hm' }] }),
  'output[] reasoning, content': item({ ...thought, content: [{ type: 'reasoning_text', text: 'hm' }] }),
  'output[].encrypted_content': item({ ...thought, encrypted_content: 'gAAA' }, 'output[].encrypted_content'),
  'output[] function_call': item(fnCall),
  'output[] of other types': item({ id: 'ws_1', type: 'web_search_call', status: 'completed' }),
  'incomplete_details.reason': {
    with: response([said([outputText])], {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    }),
    without: answered,
  },
  store: { with: answered, without: response([said([outputText])], { store: true }) },
  previous_response_id: { with: answered, without: response([said([outputText])], { previous_response_id: 'resp_0' }) },
  completed_at: { with: response([said([outputText])], { completed_at: 9 }), without: answered },
  input_transformations: {
    with: response([said([outputText])], { input_transformations: [{ type: 'x' }] }),
    without: answered,
  },
  prompt_cache_diagnostics: {
    with: response([said([outputText])], { prompt_cache_diagnostics: { type: 'cache_miss' } }),
    without: answered,
  },
  tool_usage: {
    with: response([said([outputText])], { tool_usage: { web_search: { num_requests: 1 } } }),
    without: answered,
  },
  'usage of other kinds of tokens': { ...responseUsage({ further: { tokens: 2 } }), path: 'usage.further' },
  'usage.input_tokens': responseUsage({ input_tokens: 7 }),
  'usage.output_tokens': responseUsage({ output_tokens: 7 }),
  'usage.input_tokens_details.cached_tokens': responseUsage({ input_tokens_details: { cached_tokens: 2 } }),
  'usage.input_tokens_details.cache_write_tokens': responseUsage({ input_tokens_details: { cache_write_tokens: 2 } }),
  'usage.output_tokens_details.reasoning_tokens': responseUsage({ output_tokens_details: { reasoning_tokens: 2 } }),
  '*': { with: response([said([outputText])], { moderation: { x: 1 } }), without: answered, path: 'moderation' },
};

describe.each([
  ['chat', chatExamples],
  ['messages', messagesExamples],
  ['responses', responsesExamples],
] as const)("the rules for a %s upstream's answer", (upstream, examples) => {
  describe.each(clientsOf(upstream))('to a %s client', (client) => {
    const translation = translationBetween(client, upstream);
    const rules = translation.answerRules ?? [];

    it('each have an example, and each example has a rule', () => {
      expect(Object.keys(examples).toSorted()).toEqual(rules.map(({ field }) => field).toSorted());
    });

    it.each(rules.map(({ field, effect }) => [field, effect] as const))('are right for %s', (field, effect) => {
      let minted = 0;
      const example: Example = examples[field] ?? { with: {}, without: {} };
      holdRule(field, effect, example, (body) => {
        const at = ['id', 'model'].includes(field) ? ++minted : 0;
        const created = field.startsWith('created') && client !== 'messages' ? ++minted : 0;
        const seal = (text: string): string => text;
        return translation.reply(body, { id: `id-${at}`, model: `model-${at}`, created, seal, origin: 'here' }).body;
      });
    });
  });
});
