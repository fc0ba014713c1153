import { describe, expect, it } from 'vitest';
import { parseResponsesRequest } from '#shared/formats/responses/parse-responses-request.ts';
import { computeResponsesNeeds } from '#shared/formats/responses/needs.ts';
import { recordedRequests } from '../../../helpers/clients/recorded-requests.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { said } from '../../../helpers/formats/said.ts';

const base = { model: 'm', input: 'hi' };
const image = { type: 'input_image', image_url: 'data:image/png;base64,aa' };
const tool = { type: 'function', name: 'f' };
const output = { type: 'function_call_output', call_id: 'c' };
const offline = { type: 'web_search', external_web_access: false };

describe('a Responses request', () => {
  it.each([
    ['a text', {}],
    ['no input but instructions', { input: [], instructions: 'x' }],
    ['messages without types', { input: [said('user', 'hi')] }],
    ['items and tools of later releases', { input: [{ type: 'new_item', x: 1 }], tools: [{ type: 'new_tool' }] }],
    ['an output that no call asked for', { input: [{ type: 'function_call_output', name: 'goal', output: 'Win.' }] }],
    ['null for every optional field', { tools: null, tool_choice: null, text: null, reasoning: null, store: null }],
  ])('with %s is accepted unchanged', (_, fields) => {
    const body = { ...base, ...fields };
    expect(parseResponsesRequest(body)).toBe(body);
  });

  it('recorded from Codex is accepted', () => {
    const bodies = [...recordedRequests('codex').values()].flatMap(({ path, body }) =>
      path.includes('/responses') ? [body] : [],
    );
    expect(bodies.length).toBeGreaterThan(0);
    for (const body of bodies) expect(parseResponsesRequest(body)).toBe(body);
  });

  it.each([
    [{ model: undefined }, 'model'],
    [{ input: undefined }, 'input'],
    [{ input: [{ role: 'user' }] }, 'input[0].content'],
    [{ input: [said('user', 'a'), said('user', [{ text: 'x' }])] }, 'input[1].content[0].type'],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }, 'input[0].arguments'],
    [{ input: [output] }, 'input[0].output'],
    [{ input: [{ type: 'function_call_output', output: 'x' }] }, 'input[0].call_id'],
    [{ tools: [tool, { type: 'function' }] }, 'tools[1].name'],
    [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'custom' }] }] }, 'tools[0].tools[0].name'],
    [{ text: { format: { type: 'json_schema' } } }, 'text.format.name'],
  ])('lacks a field with %j: %s', (fields, param) => {
    expect(() => parseResponsesRequest({ ...base, ...fields })).toThrow(errorWith('missing_parameter', { param }));
  });

  it.each([
    [{ tool_choice: 'always' }, 'tool_choice', 'invalid_request'],
    [{ max_output_tokens: 0 }, 'max_output_tokens', 'invalid_request'],
    [{ temperature: 3 }, 'temperature', 'invalid_request'],
    [{ background: true, store: false }, 'background', 'unsupported_parameter'],
  ])('is refused with the path of the field: %j', (fields, param, code) => {
    expect(() => parseResponsesRequest({ ...base, ...fields })).toThrow(errorWith(code, { param }));
  });
});

describe('the needs of a Responses request', () => {
  it.each([
    ['tools', { tools: [tool] }, { tools: true }],
    ['no tools for the choice none', { tools: [tool], tool_choice: 'none' }, { tools: false }],
    ['tools of an item', { input: [{ type: 'additional_tools', tools: [tool] }] }, { tools: true }],
    ['no tools for a search of a cache', { tools: [offline] }, { tools: false }],
    ['images of a message', { input: [said('user', [image])] }, { vision: true }],
    ['images of an output', { input: [{ ...output, output: [image] }] }, { vision: true }],
    ['thinking', { reasoning: { effort: 'low' } }, { thinking: true }],
    ['no thinking for a summary alone', { reasoning: { effort: null, summary: 'auto' } }, { thinking: false }],
    ['no thinking for none', { reasoning: { effort: 'none' } }, { thinking: false }],
    ['JSON', { text: { format: { type: 'json_object' } } }, { json: true }],
    ['no JSON for text', { text: { format: { type: 'text' } } }, { json: false }],
  ])('are read correctly: %s', (_, fields, needs) => {
    expect(computeResponsesNeeds(parseResponsesRequest({ ...base, ...fields }))).toMatchObject(needs);
  });

  it('include an estimate of its input: all texts, tools, images and calls', () => {
    const tokens = (fields: object) => computeResponsesNeeds(parseResponsesRequest({ ...base, ...fields })).inputTokens;
    const text = 'x'.repeat(400);
    const plain = tokens({});
    for (const fields of [
      { instructions: text },
      { input: text },
      { input: [said('user', text)] },
      { input: [said('user', [{ type: 'input_text', text }])] },
      { tools: [{ ...tool, description: text }] },
      { input: [{ type: 'additional_tools', tools: [{ ...tool, description: text }] }] },
      { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: text }] },
      { input: [{ ...output, output: text }] },
      { input: [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text }] }] },
    ]) {
      expect(tokens(fields) - plain, JSON.stringify(fields)).toBeGreaterThanOrEqual(95);
      expect(tokens(fields) - plain, JSON.stringify(fields)).toBeLessThan(150);
    }
    expect(tokens({ input: [said('user', [image])] })).toBeGreaterThan(1_000);
  });
});
