import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { createSealer } from '#shared/core/seal.ts';
import { responsesToMessagesRequest } from '#shared/translate/responses-messages/responses-to-messages.ts';
import { writeReasoning } from '#shared/translate/responses/sealed-thinking.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const { seal, unseal } = createSealer(randomBytes(32));

function translate(fields: JsonObject, traits: Partial<ModelTraits> = {}): JsonObject {
  return responsesToMessagesRequest({ model: 'm', input: 'hi', ...fields }, { model: 'up', unseal, ...traits });
}

function turns(...input: JsonObject[]): JsonObject {
  const { system, messages } = translate({ input, prompt_cache_options: { mode: 'explicit' } });
  return { ...(system !== undefined && { system }), messages };
}

const said = (role: string, text: string): JsonObject => ({ type: 'message', role, content: text });
const call = (id: string): JsonObject => {
  return { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'f', arguments: '{}' };
};
const output = (id: string, text: Json = `result ${id}`): JsonObject => {
  return { type: 'function_call_output', call_id: id, output: text };
};
const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'f', input: {} });
const result = (id: string, content: Json = `result ${id}`): JsonObject => {
  return { type: 'tool_result', tool_use_id: id, content };
};
const user = { role: 'user', content: 'hi' };

describe('the turns of a Responses request to a messages upstream', () => {
  it('begin with instructions and leading developer messages as system prompt, and have later ones in place', () => {
    const { system, messages } = translate({
      instructions: 'a',
      input: [said('developer', 'b'), said('system', 'c'), said('user', 'hi'), said('developer', 'd')],
    });
    expect(system).toEqual(['a', 'b', 'c'].map((text) => ({ type: 'text', text })));
    expect(messages).toEqual([user, { role: 'system', content: 'd' }]);
    expect(translate({ instructions: 'a' })['system']).toBe('a');
  });

  it('have results directly after their calls, whatever came between them', () => {
    const between = [said('user', 'wait'), said('developer', 'hurry')];
    expect(turns(said('user', 'hi'), call('a'), call('b'), output('a'), ...between, output('b'))['messages']).toEqual([
      user,
      { role: 'assistant', content: [use('a'), use('b')] },
      { role: 'user', content: [result('a'), result('b'), { type: 'text', text: 'wait' }] },
      { role: 'system', content: 'hurry' },
    ]);
  });

  it('have only valid ids, and no empty texts', () => {
    expect(turns(said('user', ''), said('user', 'hi'), call('call:1'), output('call:1', ''))['messages']).toEqual([
      user,
      { role: 'assistant', content: [use('call_x3a_1')] },
      { role: 'user', content: [result('call_x3a_1', '')] },
    ]);
  });

  it('have images, documents and texts in messages and in results', () => {
    const png = 'data:image/png;base64,AA==';
    const pdf = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,QQ==' };
    const parts = [
      { type: 'input_text', text: 'see' },
      { type: 'input_image', image_url: png, detail: 'high' },
      pdf,
      { type: 'input_file', file_url: 'https://example.com/b.pdf' },
    ];
    const blocks = [
      { type: 'text', text: 'see' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'QQ==' }, title: 'a.pdf' },
      { type: 'document', source: { type: 'url', url: 'https://example.com/b.pdf' } },
    ];
    expect(turns({ role: 'user', content: parts }, call('a'), output('a', parts))['messages']).toEqual([
      { role: 'user', content: blocks },
      { role: 'assistant', content: [use('a')] },
      { role: 'user', content: [result('a', blocks)] },
    ]);
  });

  it.each([
    ['input[0].content[0].image_url', { type: 'input_image', image_url: 'file:///etc/passwd' }],
    ['input[0].content[0].file_data', { type: 'input_file', file_data: 'data:application/zip;base64,AA==' }],
  ])('are refused with the path %s for content that no messages upstream takes', (param, part) => {
    expect(() => turns({ role: 'user', content: [part] })).toThrow(errorWith('unsupported_parameter', { param }));
  });
});

describe('the thinking of a Responses request to a messages upstream', () => {
  const reasoning = (value: JsonObject | string, text = ''): JsonObject => ({
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'not this' }],
    encrypted_content: typeof value === 'string' ? value : seal(writeReasoning({ text, sealed: value })),
  });
  const text = seal(writeReasoning({ text: 'hm', sealed: { model: 'up', signature: 'c2ln' } }));
  const otherSeal = createSealer(randomBytes(32)).seal;
  const signed = reasoning(text);
  const redacted = reasoning({ model: 'up', data: 'opaque' });
  const block = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };

  it('precedes the content after it, in order, as the upstream sent it', () => {
    const input = [said('user', 'hi'), signed, redacted, call('a'), output('a'), signed, said('assistant', 'x')];
    expect(turns(...input)['messages']).toEqual([
      user,
      { role: 'assistant', content: [block, { type: 'redacted_thinking', data: 'opaque' }, use('a')] },
      { role: 'user', content: [result('a')] },
      { role: 'assistant', content: [block, { type: 'text', text: 'x' }] },
    ]);
  });

  it('keeps a thinking text that is empty', () => {
    const { messages } = turns(said('user', 'hi'), reasoning({ model: 'up', signature: 's' }), call('a'), output('a'));
    expect(messages).toMatchObject([{}, { content: [{ type: 'thinking', thinking: '', signature: 's' }, {}] }, {}]);
  });

  it.each([
    ["is OpenAI's", reasoning('gAAAAABopaque')],
    ['was sealed for another owner', reasoning(otherSeal('{"text":"hm","sealed":{"model":"up"}}'))],
    ['was changed', reasoning(`${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`)],
    ['comes from another model', reasoning({ model: 'other', signature: 'c2ln' }, 'hm')],
    ['comes from another upstream', reasoning({ model: 'up', origin: 'there', signature: 'c2ln' }, 'hm')],
    ['has no signature', reasoning({ model: 'up' }, 'hm')],
    ['was not sealed', { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] }],
  ])('is omitted if it %s', (_, item) => {
    const { messages } = turns(said('user', 'hi'), item, said('assistant', 'x'), said('user', 'hi'));
    expect(messages).toEqual([user, { role: 'assistant', content: 'x' }, user]);
  });

  it('is omitted at the end of a turn, where the format refuses it', () => {
    const { messages } = turns(said('user', 'hi'), said('assistant', 'x'), signed, said('user', 'hi'));
    expect(messages).toEqual([user, { role: 'assistant', content: 'x' }, user]);
    expect(turns(said('user', 'hi'), signed, said('user', 'hi'))['messages']).toEqual([user, user]);
  });
});

describe('the tools of a Responses request to a messages upstream', () => {
  const tools = [
    { type: 'function', name: 'f', description: 'F', parameters: { type: 'object' }, strict: true },
    { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
    { type: 'namespace', name: 'mcp__x', tools: [{ type: 'function', name: 'f' }] },
    { type: 'web_search', external_web_access: false },
  ];

  it('become functions with unique names', () => {
    const description = expect.stringContaining('start: "x"') as string;
    expect(translate({ tools })['tools']).toEqual([
      { name: 'f', description: 'F', input_schema: { type: 'object' }, strict: true },
      { name: 'patch', description, input_schema: expect.objectContaining({ required: ['input'] }) as JsonObject },
      { name: 'mcp__x__f', input_schema: { type: 'object', properties: {} } },
    ]);
  });

  it('have in the history the names under which they are offered', () => {
    const patched = { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: 'x' };
    const called = { ...call('b'), namespace: 'mcp__x', arguments: '{' };
    const outputs = [{ type: 'custom_tool_call_output', call_id: 'a', output: 'ok' }, output('b')];
    const { messages } = translate({ tools, input: [patched, called, ...outputs] });
    const patch = { name: 'patch', input: { input: 'x' } };
    expect(messages).toMatchObject([
      { content: [patch, { name: 'mcp__x__f', input: { _raw: '{' } }] },
      { content: [{ tool_use_id: 'a', content: 'ok' }, { tool_use_id: 'b' }] },
    ]);
  });

  it('include those that the client has found or added', () => {
    const { messages, tools: offered } = translate({
      tools: [{ type: 'tool_search', execution: 'client', parameters: { type: 'object' } }],
      input: [
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'more' }] },
        said('user', 'hi'),
        { type: 'tool_search_call', call_id: 'a', execution: 'client', arguments: { query: 'g' } },
        { type: 'tool_search_output', call_id: 'a', tools: [{ type: 'function', name: 'g' }] },
        { type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} },
        { type: 'tool_search_output', call_id: null, execution: 'server', tools: [{ type: 'function', name: 'h' }] },
      ],
    });
    expect(offered).toMatchObject([{ name: 'tool_search' }, { name: 'more' }, { name: 'g' }, { name: 'h' }]);
    expect(messages).toMatchObject([
      {},
      { content: [{ type: 'tool_use', name: 'tool_search', input: { query: 'g' } }] },
      { content: [{ tool_use_id: 'a', content: 'Tools that can be called now: g' }] },
    ]);
  });

  it('have the choice of one under the name by which it is offered', () => {
    const chosen = (choice: Json) => translate({ tools, tool_choice: choice })['tool_choice'];
    expect(chosen({ type: 'custom', name: 'patch' })).toEqual({ type: 'tool', name: 'patch' });
    const grouped = { type: 'function', name: 'f', namespace: 'mcp__x' };
    expect(chosen(grouped)).toEqual({ type: 'tool', name: 'mcp__x__f' });
    expect(chosen(null)).toBeUndefined();
  });

  it('are limited to the allowed ones', () => {
    const choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'patch' }] };
    const limited = { tools: [{ name: 'patch' }], tool_choice: { type: 'any' } };
    expect(translate({ tools, tool_choice: choice })).toMatchObject(limited);
  });

  it('are called one at a time if the client requests that', () => {
    const serial = { type: 'auto', disable_parallel_tool_use: true };
    expect(translate({ tools, parallel_tool_calls: false })['tool_choice']).toEqual(serial);
    expect(translate({ tool_choice: 'auto', parallel_tool_calls: false })).not.toHaveProperty('tool_choice');
  });

  it("have the upstream's search in place of the server's search", () => {
    const location = { type: 'approximate', city: 'Oslo', region: null };
    const search = { type: 'web_search', filters: { allowed_domains: ['example.com'] }, user_location: location };
    const places = { allowed_domains: ['example.com'], user_location: { type: 'approximate', city: 'Oslo' } };
    expect(translate({ tools: [search], tool_choice: 'auto' }, { searches: true })).toMatchObject({
      tools: [{ type: 'web_search_20250305', name: 'web_search', ...places }],
      tool_choice: { type: 'auto' },
    });
    const beside = { tools: [...tools, { type: 'web_search' }] };
    expect(translate(beside, { searches: true })['tools']).toHaveLength(4);
    expect(translate(beside)['tools']).toHaveLength(3);
  });

  it.each([
    ['tools[0].type', { tools: [{ type: 'web_search' }] }],
    ['tools[0].type', { tools: [{ type: 'file_search', vector_store_ids: [] }] }],
    ['tool_choice.type', { tools, tool_choice: { type: 'web_search' } }],
  ])('are refused with the path %s if they run on the server', (param, fields) => {
    expect(() => translate(fields)).toThrow(errorWith('unsupported_parameter', { param }));
  });
});

describe('the settings of a Responses request to a messages upstream', () => {
  it('always have an output limit', () => {
    expect(translate({})['max_tokens']).toBe(8192);
    expect(translate({}, { maxOutput: 4096 })['max_tokens']).toBe(4096);
    expect(translate({}, { maxOutput: 128_000 })['max_tokens']).toBe(32_000);
    expect(translate({ max_output_tokens: 5 }, { maxOutput: 4096 })['max_tokens']).toBe(5);
  });

  it('have sampling only without thinking', () => {
    const sampling = { temperature: 1.7, top_p: 0.5 };
    expect(translate(sampling)).toMatchObject({ temperature: 1, top_p: 0.5 });
    const thinking = translate({ ...sampling, reasoning: { effort: 'low' } });
    for (const field of Object.keys(sampling)) expect(thinking).not.toHaveProperty(field);
  });

  it.each([
    [{ effort: 'minimal' }, { type: 'adaptive' }, { effort: 'low' }],
    [{ effort: 'xhigh' }, { type: 'adaptive' }, { effort: 'xhigh' }],
    [{ effort: 'high', summary: 'auto' }, { type: 'adaptive', display: 'summarized' }, { effort: 'high' }],
    [{ effort: 'none', summary: 'auto' }, { type: 'disabled' }, undefined],
    [{ summary: 'auto' }, undefined, undefined],
  ])('have for the reasoning %j the thinking %j and the output configuration %j', (reasoning, thinking, config) => {
    const request = translate({ reasoning });
    expect([request['thinking'], request['output_config']]).toEqual([thinking, config]);
  });

  it('have the format of the answer', () => {
    const format = { type: 'json_schema', schema: { type: 'object', properties: {} } };
    const given = { text: { format: { ...format, name: 'n', strict: true } } };
    expect(translate(given)).toMatchObject({ output_config: { format } });
    expect(translate({ text: { format: { type: 'json_object' } } })['system']).toContain('JSON');
    expect(translate({ text: { format: { type: 'text' }, verbosity: 'low' } })).toEqual(translate({}));
  });
});
