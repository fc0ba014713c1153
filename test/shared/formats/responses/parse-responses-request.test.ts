import { describe, expect, it } from 'vitest';
import { parseResponsesRequest } from '#shared/formats/responses/parse-responses-request.ts';
import { responsesNeeds } from '#shared/formats/responses/needs.ts';
import { recordedRequests } from '../../../helpers/clients/recorded-requests.ts';

const base = { model: 'm', input: 'hi' };
const image = { type: 'input_image', image_url: 'data:image/png;base64,aa' };
const tool = { type: 'function', name: 'f' };

describe('a Responses request', () => {
  it.each([
    ['a text', base],
    ['no input but instructions', { ...base, input: [], instructions: 'x' }],
    ['messages without types', { ...base, input: [{ role: 'user', content: 'hi' }] }],
    [
      'items and tools of later releases',
      { ...base, input: [{ type: 'new_item', x: 1 }], tools: [{ type: 'new_tool' }] },
    ],
    [
      'null for every optional field',
      { ...base, tools: null, tool_choice: null, text: null, reasoning: null, store: null },
    ],
  ])('with %s is accepted unchanged', (_, body) => {
    expect(parseResponsesRequest(body)).toBe(body);
  });

  it('recorded from Codex is accepted', () => {
    const bodies = [...recordedRequests('codex').values()].flatMap(({ path, body }) =>
      path.includes('/responses') ? [body] : [],
    );
    expect(bodies.length).toBeGreaterThan(0);
    for (const body of bodies) expect(parseResponsesRequest(body)).toBe(body);
  });

  const textOnly = { role: 'user', content: [{ text: 'x' }] };
  it.each([
    [{ model: undefined }, 'model'],
    [{ input: undefined }, 'input'],
    [{ input: [{ role: 'user' }] }, 'input[0].content'],
    [{ input: [{ role: 'user', content: 'a' }, textOnly] }, 'input[1].content[0].type'],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }, 'input[0].arguments'],
    [{ input: [{ type: 'function_call_output', call_id: 'c' }] }, 'input[0].output'],
    [{ tools: [tool, { type: 'function' }] }, 'tools[1].name'],
    [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'custom' }] }] }, 'tools[0].tools[0].name'],
    [{ text: { format: { type: 'json_schema' } } }, 'text.format.name'],
  ])('lacks a field with %j: %s', (fields, param) => {
    const lacking = expect.objectContaining({ param, code: 'missing_parameter' }) as Error;
    expect(() => parseResponsesRequest({ ...base, ...fields })).toThrow(lacking);
  });

  it.each([
    [{ tool_choice: 'always' }, 'tool_choice', 'invalid_request'],
    [{ max_output_tokens: 0 }, 'max_output_tokens', 'invalid_request'],
    [{ temperature: 3 }, 'temperature', 'invalid_request'],
    [{ background: true, store: false }, 'background', 'unsupported_parameter'],
  ])('is refused with the path of the field: %j', (fields, param, code) => {
    const refused = expect.objectContaining({ param, code }) as Error;
    expect(() => parseResponsesRequest({ ...base, ...fields })).toThrow(refused);
  });
});

describe('the needs of a Responses request', () => {
  it.each([
    ['tools', { tools: [tool] }, { tools: true }],
    ['no tools for the choice none', { tools: [tool], tool_choice: 'none' }, { tools: false }],
    ['tools of an item', { input: [{ type: 'additional_tools', tools: [tool] }] }, { tools: true }],
    [
      'no tools for a search of a cache',
      { tools: [{ type: 'web_search', external_web_access: false }] },
      { tools: false },
    ],
    ['images of a message', { input: [{ role: 'user', content: [image] }] }, { vision: true }],
    [
      'images of an output',
      { input: [{ type: 'function_call_output', call_id: 'c', output: [image] }] },
      { vision: true },
    ],
    ['thinking', { reasoning: { effort: 'low' } }, { thinking: true }],
    ['no thinking for a summary alone', { reasoning: { effort: null, summary: 'auto' } }, { thinking: false }],
    ['no thinking for none', { reasoning: { effort: 'none' } }, { thinking: false }],
    ['JSON', { text: { format: { type: 'json_object' } } }, { json: true }],
    ['no JSON for text', { text: { format: { type: 'text' } } }, { json: false }],
  ])('are read correctly: %s', (_, fields, needs) => {
    expect(responsesNeeds(parseResponsesRequest({ ...base, ...fields }))).toMatchObject(needs);
  });

  it('include an estimate of its input: all texts, tools, images and calls', () => {
    const tokens = (fields: object) => responsesNeeds(parseResponsesRequest({ ...base, ...fields })).inputTokens;
    const text = 'x'.repeat(400);
    const plain = tokens({});
    const said = (content: unknown) => ({ input: [{ role: 'user', content }] });
    for (const fields of [
      { instructions: text },
      { input: text },
      said(text),
      said([{ type: 'input_text', text }]),
      { tools: [{ ...tool, description: text }] },
      { input: [{ type: 'additional_tools', tools: [{ ...tool, description: text }] }] },
      { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: text }] },
      { input: [{ type: 'function_call_output', call_id: 'c', output: text }] },
      { input: [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text }] }] },
    ]) {
      expect(tokens(fields) - plain, JSON.stringify(fields)).toBeGreaterThanOrEqual(95);
      expect(tokens(fields) - plain, JSON.stringify(fields)).toBeLessThan(150);
    }
    expect(tokens(said([image]))).toBeGreaterThan(1_000);
  });
});
