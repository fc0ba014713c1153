import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { responsesToChat } from '#shared/translate/responses-chat/responses-to-chat.ts';
import { said, textBlock } from '../../../helpers/formats/said.ts';

function translate(fields: object, traits: object = {}): JsonObject {
  const body: JsonObject = { model: 'auto', ...fields };
  return responsesToChat.translateRequest(body, { model: 'served', ...traits });
}

const image = { type: 'input_image', image_url: 'data:image/png;base64,aa' };
const call = (id: string, name = 'f') => ({ type: 'function_call', call_id: id, name, arguments: '{"a":1}' });
const output = (id: string, output: Json) => ({ type: 'function_call_output', call_id: id, output });
const tool = { type: 'function', name: 'f', parameters: { type: 'object' } };
const chatCall = (id: string, name = 'f', json = '{"a":1}') => {
  return { id, type: 'function', function: { name, arguments: json } };
};

describe('a Responses request for a chat upstream', () => {
  it('has all instructions in a first system message, and turns of the model in one message each', () => {
    const { messages } = translate({
      instructions: 'Be brief.',
      input: [
        { type: 'message', id: 'msg_1', role: 'developer', content: [{ type: 'input_text', text: 'Use tools.' }] },
        said('user', 'Go.'),
        { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.', annotations: [] }] },
        call('c1'),
        { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** "Begin"\n' },
        output('c1', 'one'),
        { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'two' }, image] },
        said('developer', 'Now plan.'),
        said('user', [{ type: 'input_text', text: 'And?' }]),
        said('assistant', 'Done.'),
      ],
    });
    const patch = chatCall('c2', 'apply_patch', '{"input":"*** \\"Begin\\"\\n"}');
    expect(messages).toEqual([
      said('system', 'Be brief.\n\nUse tools.\n\nNow plan.'),
      said('user', 'Go.'),
      { ...said('assistant', 'I look.'), reasoning_content: 'hm', tool_calls: [chatCall('c1'), patch] },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
      said('user', [{ type: 'image_url', image_url: { url: image.image_url } }, textBlock('And?')]),
      said('assistant', 'Done.'),
    ]);
  });

  it("has images of results before the model's next turn, if no user message follows", () => {
    const { messages } = translate({
      input: [said('user', 'Go.'), call('c1'), output('c1', [image]), call('c2'), output('c2', 'x')],
    });
    const roles = (messages as JsonObject[]).map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'user', 'assistant', 'tool']);
  });

  it('has an output that no call asked for as a message of the user that names its tool', () => {
    const goal = { type: 'function_call_output', name: 'goal', namespace: 'agent', output: 'Win.' };
    const { messages } = translate({ input: [said('user', 'Go.'), call('c1'), output('c1', 'one'), goal] });
    const told = said('user', [textBlock('Output of agent.goal:'), textBlock('Win.')]);
    expect((messages as JsonObject[]).slice(2)).toEqual([{ role: 'tool', tool_call_id: 'c1', content: 'one' }, told]);
  });

  it('calls tools of a group by the names under which it offers them', () => {
    const group = { type: 'namespace', name: 'mcp__tt', tools: [{ type: 'function', name: 'echo' }] };
    const called = { ...call('c', 'echo'), namespace: 'mcp__tt' };
    const { messages, tools } = translate({ tools: [group], input: [said('user', 'Go.'), called, output('c', 'x')] });
    const parameters = { type: 'object', properties: {} };
    expect(tools).toEqual([{ type: 'function', function: { name: 'mcp__tt__echo', parameters } }]);
    expect(messages).toMatchObject([{}, { tool_calls: [{ function: { name: 'mcp__tt__echo' } }] }, {}]);
  });

  const pdf = { filename: 'a.md', file_data: 'data:application/pdf;base64,aa' };
  it.each([
    ['a text file', 'data:text/markdown;base64,aGk=', textBlock('a.md\n\nhi'), {}],
    ['a PDF, if the upstream takes files', pdf.file_data, { type: 'file', file: pdf }, { takesFiles: true }],
  ])('has %s in its place', (_, data, part, traits) => {
    const file = { type: 'input_file', filename: 'a.md', file_data: data };
    const { messages } = translate({ input: [said('user', [file, image])] }, traits);
    expect(messages).toMatchObject([{ content: [part, { type: 'image_url' }] }]);
  });

  const named = (name: string) => ({ type: 'function', function: { name } });
  it.each([
    ['a function', { type: 'function', name: 'f' }, named('f')],
    ['a custom tool', { type: 'custom', name: 'p' }, named('p')],
    ['one of some', { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] }, 'required'],
    ['none', 'none', 'none'],
  ])('has the tool choice of %s', (_, choice, expected) => {
    const request = translate({ input: 'hi', tools: [tool, { type: 'custom', name: 'p' }], tool_choice: choice });
    expect(request['tool_choice']).toEqual(expected);
    expect(request['tools']).toHaveLength(typeof choice === 'object' && choice.type === 'allowed_tools' ? 1 : 2);
  });

  it.each([
    [{ input: [{ type: 'function_call_output', call_id: 'x', output: '' }] }, 'input[0].call_id'],
    [{ input: [said('user', [{ ...image, image_url: 'file:///etc/passwd' }])] }, 'input[0].content[0].image_url'],
    [{ input: [said('developer', [image])] }, 'input[0].content'],
    [{ input: 'hi', tools: [{ type: 'image_generation' }, tool] }, 'tools[0].type'],
    [{ input: 'hi', tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [{ input: 'hi', tool_choice: 'required' }, 'tool_choice'],
    [{ input: 'hi', tools: [tool], tool_choice: { type: 'function', name: 'g' } }, 'tool_choice'],
    [{ input: 'hi', tools: [tool], tool_choice: { type: 'web_search' } }, 'tool_choice.type'],
    [{ input: 'hi', text: { format: { type: 'grammar' } } }, 'text.format.type'],
  ])('is refused with the name of the field: %j', (fields, param) => {
    expect(() => translate(fields)).toThrow(expect.objectContaining({ param }) as Error);
  });

  it('has the path of an image with a given address', () => {
    const url = 'https://example.com/a.png';
    const body: JsonObject = { input: [said('user', 'x'), output('c', [image, { ...image, image_url: url }])] };
    expect(responsesToChat.findUrlPath?.(body, url)).toBe('input[1].output[1].image_url');
    expect(responsesToChat.findUrlPath?.(body, 'https://x')).toBeUndefined();
  });
});
