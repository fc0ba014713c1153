import { describe, expect, it } from 'vitest';
import { findRefusedFeatures } from '#shared/translate/translation.ts';
import { codexDialogue } from '#services/cli-worker/clis/codex/codex.ts';
import { said } from '../../../../helpers/formats/said.ts';
import { able, readRequests } from '../../../../helpers/clis/read-requests.ts';

const { messages, chat, responses } = readRequests(codexDialogue);

const chatTool = (name: string) => ({ type: 'function', function: { name } });
const chatCall = (name: string) => ({ type: 'function', function: { name, arguments: '{}' } });
const item = (role: string, text: string) => {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: [{ type, text }] };
};

describe('a request to Codex', () => {
  it('has the first system texts as instructions, and later ones at their places', () => {
    const { instructions, items } = chat({
      messages: [
        said('system', 'one'),
        said('developer', 'two'),
        said('user', 'three'),
        said('assistant', ''),
        said('developer', 'four'),
        said('user', 'five'),
      ],
    });
    expect(instructions).toBe('one\n\ntwo');
    expect(items).toEqual([item('user', 'three'), item('developer', 'four'), item('user', 'five')]);
  });

  it("has the client's limits, effort and model", () => {
    const thoughtless = messages({ stop_sequences: ['END'], thinking: { type: 'disabled' } });
    expect(thoughtless).toMatchObject({ model: 'm', maxTokens: 10, stop: ['END'], effort: 'none' });
    const brief = chat({ stop: 'END', max_completion_tokens: 5, max_tokens: 7, reasoning_effort: 'minimal' });
    expect(brief).toMatchObject({ maxTokens: 5, stop: ['END'], effort: 'low' });
    const unlimited = responses({ reasoning: { effort: 'xhigh' } });
    expect(unlimited).toMatchObject({ effort: 'xhigh', maxTokens: undefined, stop: [] });
  });

  it('has tools with names that Codex accepts, the same in the history', () => {
    const names = ['plain', 'mcp__a__b', 'a.b', 'request_user_input', 'n'.repeat(129)];
    const calls = names.map((name, at) => ({ ...chatCall(name), id: `call_${at}` }));
    const messages = [{ role: 'assistant', content: null, tool_calls: calls }, said('user', 'hi')];
    const { tools, toolNames, items } = chat({ tools: names.map(chatTool), messages });
    const offered = tools.map(({ name }) => name);
    expect(offered[0]).toBe('plain');
    for (const name of offered) expect(name).toMatch(/^(?!mcp__)[\w-]{1,64}$/);
    expect(new Set(offered).size).toBe(names.length);
    expect(offered.map((name) => toolNames.get(name))).toEqual(names);
    expect(items.slice(0, -1).map(({ name }) => name)).toEqual(offered);
  });

  it('repeats schemas that Codex does not pass on completely in the descriptions', () => {
    const toolOf = (parameters: object) =>
      chat({ tools: [{ type: 'function', function: { name: 'f', description: 'Does it.', parameters } }] }).tools[0];
    const whole = {
      type: 'object',
      properties: { minimum: { type: ['string', 'null'], enum: ['a'], title: 'A' }, b: { $ref: '#/$defs/pattern' } },
      $defs: { pattern: { anyOf: [{ type: 'integer' }] } },
      additionalProperties: false,
    };
    expect(toolOf(whole)).toEqual({ name: 'f', description: 'Does it.', inputSchema: whole });
    const long = { type: 'object', description: 'x'.repeat(5_000) };
    const narrow = { type: 'object', properties: { a: { type: 'array', items: { type: 'integer', minimum: 1 } } } };
    for (const schema of [long, narrow, { ...whole, patternProperties: {} }]) {
      const description = `Does it.\n\nThe parameters follow this JSON schema:\n${JSON.stringify(schema)}`;
      expect(toolOf(schema)).toEqual({ name: 'f', description, inputSchema: schema });
    }
  });

  it('offers no tools if the choice is none, and otherwise only the allowed ones', () => {
    expect(chat({ tools: [chatTool('f')], tool_choice: 'none' }).tools).toEqual([]);
    const allowed = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'g' }] };
    const tools = ['f', 'g'].map((name) => ({ type: 'function', name, parameters: {} }));
    expect(responses({ tools, tool_choice: allowed }).tools).toMatchObject([{ name: 'g' }]);
  });

  it.each([
    ['tool_choice', () => chat({ tools: [chatTool('f')], tool_choice: 'required' })],
    ['tool_choice', () => messages({ tools: [{ name: 'f', input_schema: {} }], tool_choice: { type: 'any' } })],
    ['response_format', () => chat({ response_format: { type: 'json_object' } })],
    ['text.format.strict', () => responses({ text: { format: { type: 'json_schema', name: 'a', schema: {} } } })],
    ['output_config.format', () => messages({ output_config: { format: { type: 'json_schema' } } }, {})],
    ['top_logprobs', () => responses({ top_logprobs: 1 })],
    ['logprobs', () => chat({ logprobs: true })],
    ['tools', () => chat({ tools: [chatTool('f')] }, {})],
    ['messages', () => chat({ messages: [said('user', 'a'), said('assistant', 'b')] })],
  ])('is refused with the name of the field: %s', (param, ask) => {
    expect(ask).toThrow(expect.objectContaining({ code: 'unsupported_parameter', param }));
  });

  it('is refused with the missing capability, for a messages client', () => {
    const source = { type: 'url', url: 'https://example.com/a.png' };
    const ask = () => messages({ messages: [said('user', [{ type: 'image', source }])] });
    expect(ask).toThrow(expect.objectContaining({ details: expect.objectContaining({ capability: 'image_block' }) }));
  });

  it('lists the refused features as lacking, so that auto chooses another worker', () => {
    const lacked = findRefusedFeatures(codexDialogue.translations, { model: 'm', ...able });
    const missing = {
      chat: 'forced_tools json_objects loose_schemas image_urls documents prefill logprobs several_choices',
      messages: 'forced_tools image_urls pdf prefill upstream_tools',
      responses: 'forced_tools json_objects loose_schemas image_urls pdf prefill',
    };
    for (const [format, names] of Object.entries(missing))
      for (const name of names.split(' ')) expect(lacked).toContain(`${name}@${format}`);
    expect(lacked.filter((name) => /^(?:tool_history|stop_sequences)@/.test(name))).toEqual([]);
  });
});
