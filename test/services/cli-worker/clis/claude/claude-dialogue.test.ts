import { describe, expect, it } from 'vitest';
import { createSealer } from '#shared/core/seal.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import { writeReasoning } from '#shared/translate/responses/sealed-thinking.ts';
import { syntheticSignature } from '#shared/translate/vocabulary/thinking.ts';
import { claudeDialogue } from '#services/cli-worker/clis/claude/claude-dialogue.ts';
import { readRequests } from '../../../../helpers/clis/read-requests.ts';
import { said, textBlock } from '../../../../helpers/formats/said.ts';

const { messages, chat, responses } = readRequests(claudeDialogue);

describe('a request to Claude Code', () => {
  it('keeps turns with calls and results of tools as the client sent them, without cache hints', () => {
    const hint = { cache_control: { type: 'ephemeral' } };
    const call = { type: 'tool_use', id: 'a', name: 'f', input: { z: 1, a: 2 } };
    const inner = textBlock('done');
    const { history, question } = messages({
      messages: [
        said('user', [{ type: 'text', text: 'one', ...hint }]),
        said('assistant', [textBlock('two'), call]),
        said('user', [{ type: 'tool_result', tool_use_id: 'a', content: [{ ...inner, ...hint }], ...hint }]),
        said('user', 'three'),
      ],
    });
    expect(history).toEqual([
      { role: 'user', blocks: [textBlock('one')] },
      { role: 'assistant', blocks: [textBlock('two'), call] },
    ]);
    expect(question).toEqual([{ type: 'tool_result', tool_use_id: 'a', content: [inner] }, textBlock('three')]);
  });

  it('has tools as the client describes them, and their names', () => {
    const tool = { name: 'f', input_schema: { type: 'object', anyOf: [{}] }, strict: true };
    const bash = { type: 'bash_20250124', name: 'bash' };
    const { tools, fields } = messages({
      tools: [{ ...tool, cache_control: { type: 'ephemeral' } }, bash],
      tool_choice: { type: 'auto' },
    });
    expect(tools).toEqual(['f', 'bash']);
    expect(fields).toMatchObject({ tools: [tool, bash], tool_choice: { type: 'auto' } });
    const computer = { type: 'computer_20250124', name: 'computer', display_width_px: 1, display_height_px: 1 };
    expect(messages({ tools: [computer] }).fields).toMatchObject({ tools: [{ name: 'computer', input_schema: {} }] });
    expect(messages({ tools: [{ ...tool, defer_loading: true }] })).toMatchObject({
      tools: [],
      fields: { max_tokens: 10 },
    });
  });

  it("has the upstream's fields that the client sets, and no others", () => {
    expect(messages({ temperature: 0, metadata: { user_id: 'x' }, stop_sequences: [] }).fields).toEqual({
      max_tokens: 10,
      temperature: 0,
    });
    expect(chat({ tool_choice: 'required', tools: [{ type: 'function', function: { name: 'f' } }] }).fields).toEqual({
      tool_choice: { type: 'any' },
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
    });
    expect(responses({ text: { format: { type: 'json_schema', name: 'n', schema: {} } } }).fields).toEqual({
      output_config: { format: { type: 'json_schema', schema: {} } },
    });
    // The older name of the field.
    const format = { type: 'json_schema', schema: {} };
    expect(messages({ output_format: format, output_config: { effort: 'low' } }).fields).toEqual({
      max_tokens: 10,
      output_config: { effort: 'low', format },
    });
  });

  it('thinks only if the client asks for it', () => {
    expect(messages({})).toMatchObject({ isThinking: false, fields: { max_tokens: 10 } });
    expect(messages({ thinking: { type: 'disabled' } }).fields).toEqual({ max_tokens: 10 });
    const thinking = { type: 'enabled', budget_tokens: 2000 };
    expect(messages({ thinking })).toMatchObject({ isThinking: true, fields: { thinking } });
    expect(chat({ reasoning_effort: 'low' })).toMatchObject({
      isThinking: true,
      fields: { output_config: { effort: 'low' } },
    });
    expect(chat({ reasoning_effort: 'none' }).isThinking).toBe(false);
  });

  it('keeps thinking that the upstream has signed, and drops thinking that the router has signed', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
    const others = [
      { ...thinking, signature: syntheticSignature },
      { type: 'redacted_thinking', data: 'x' },
    ];
    const { history } = messages({
      messages: [said('user', 'one'), said('assistant', [thinking, ...others, textBlock('two')]), said('user', 'so?')],
    });
    expect(history[1]?.blocks).toEqual([thinking, textBlock('two')]);
  });

  it('keeps thinking that an answer to the same owner carried in a Responses item', () => {
    const { seal, unseal } = createSealer(Buffer.alloc(32, 5));
    const signed = (model: string) => ({
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'shown' }],
      encrypted_content: seal(writeReasoning({ text: 'hm', sealed: { model, signature: 'c2ln' } })),
    });
    const input = [said('user', 'one'), signed('m'), signed('n'), said('assistant', 'two'), said('user', 'so?')];
    const text = textBlock('two');
    const blocks = (traits: Omit<ModelTraits, 'model'>) => responses({ input }, traits).history[1]?.blocks;
    expect(blocks({ unseal })).toEqual([{ type: 'thinking', thinking: 'hm', signature: 'c2ln' }, text]);
    expect(blocks({ unseal: createSealer(Buffer.alloc(32, 6)).unseal })).toEqual([text]);
  });

  it.each([
    ['tools.0.type', () => messages({ tools: [{ type: 'code_execution_20250825', name: 'x' }] })],
    ['mcp_servers', () => messages({ mcp_servers: [{ name: 'x' }] })],
    ['container', () => messages({ container: 'c' })],
    ['messages.0.content.0.type', () => messages({ messages: [said('user', [{ type: 'container_upload' }])] })],
    ['input', () => responses({ input: [said('assistant', 'a')] })],
    ['messages', () => chat({ messages: [said('assistant', 'b')] })],
    ['tools', () => messages({ tools: [{ name: 'f', input_schema: {} }] }, {})],
    ['output_config.format', () => messages({ output_config: { format: { type: 'json_schema' } } }, {})],
    ['output_config.format', () => messages({ output_format: { type: 'json_schema' } }, {})],
    ['response_format', () => chat({ response_format: { type: 'json_schema', json_schema: { schema: {} } } }, {})],
    ['text.format', () => responses({ text: { format: { type: 'json_schema', name: 'n', schema: {} } } }, {})],
  ])('is refused with the field: %s', (param, ask) => {
    expect(ask).toThrow(expect.objectContaining({ code: 'unsupported_parameter', param }));
  });
});
