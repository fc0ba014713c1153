import { describe, expect, it } from 'vitest';
import { findRefusedFeatures } from '#shared/translate/translation.ts';
import { createItemsDialogue } from '#services/cli-worker/clis/items-dialogue.ts';
import { readOpencodeRequest } from '#services/cli-worker/clis/opencode/opencode-request.ts';
import { able, readRequests } from '../../../../helpers/clis/read-requests.ts';
import { said } from '../../../../helpers/formats/said.ts';

const { translations, upstream } = createItemsDialogue(readOpencodeRequest);
const { chat } = readRequests({ translations, upstream }, 'p/m');

const chatTool = (name: string) => ({ type: 'function', function: { name } });
const call = { id: 'c1', type: 'function', function: { name: 'a.b', arguments: '{}' } };
const calling = { role: 'assistant', content: null, tool_calls: [call] };
const loose = { name: 'n', schema: {} };

describe('a request to opencode', () => {
  it('has all system texts as one, and the turns without them', () => {
    const { system, items } = chat({
      messages: [said('system', 'one'), said('user', 'two'), said('developer', 'three'), said('user', 'four')],
    });
    expect(system).toBe('one\n\nthree');
    expect(items).toMatchObject([{ content: [{ text: 'two' }] }, { content: [{ text: 'four' }] }]);
  });

  it('has the token limit and the sampling for the upstream, and stop texts for the worker', () => {
    const { parameters, stop, maxTokens } = chat({ max_tokens: 5, temperature: 0, top_p: 0.5, top_k: 3, stop: 'END' });
    expect(parameters).toEqual({ maxOutputTokens: 5, temperature: 0, topP: 0.5, topK: 3 });
    expect([stop, maxTokens]).toEqual([['END'], undefined]);
    expect(chat({}).parameters).toEqual({});
  });

  it('has the same name for a tool in its list and in the history, and maps it back', () => {
    const long = 'l'.repeat(64);
    const { tools, toolNames, items } = chat({
      tools: ['plain', 'a.b', 'a_b', long].map(chatTool),
      messages: [said('user', 'hi'), calling, { role: 'tool', tool_call_id: 'c1', content: 'done' }],
    });
    const names = tools.map(({ name }) => name);
    expect(names[0]).toBe('plain');
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(`client_${name}`).toMatch(/^[\w-]{1,64}$/);
    expect([...toolNames.values()]).toEqual(['plain', 'a.b', 'a_b', long]);
    expect([...toolNames.keys()]).toEqual(names.map((name) => `client_${name}`));
    expect(items[1]).toMatchObject({ name: `client_${names[1]}` });
  });

  it.each([
    ['tool_choice', { tools: [chatTool('f')], tool_choice: 'required' }],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['response_format.json_schema.strict', { response_format: { type: 'json_schema', json_schema: loose } }],
    ['messages', { messages: [said('user', 'hi'), said('assistant', 'I')] }],
    ['messages', { messages: [said('user', 'hi'), calling, said('user', 'well')] }],
  ])('names the field that opencode cannot serve: %s', (param, fields) => {
    expect(() => chat(fields)).toThrow(expect.objectContaining({ code: 'unsupported_parameter', param }));
  });

  it('lists lacking features of the version or of a model', () => {
    const bare = findRefusedFeatures(translations, { model: 'any' });
    const whole = findRefusedFeatures(translations, { model: 'any', ...able, takesFiles: true });
    expect(whole.length).toBeLessThan(bare.length);
    expect(bare).toEqual(expect.arrayContaining([...whole]));
  });
});
