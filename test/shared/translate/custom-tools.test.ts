import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { parseChatRequest } from '#shared/formats/chat/parse-chat-request.ts';
import { said } from '../../helpers/formats/said.ts';
import { runStream } from './run-stream.ts';
import { translationBetween } from './translation-between.ts';
import { callPiece, chatChunk, inputDeltas, messageBlock } from './upstream-streams.ts';
import { messageEnd, messageStart, responseEnd } from './upstream-streams.ts';

const patch = '*** Begin Patch\n+"ü" \\ {}\n*** End Patch';
const grammar = { syntax: 'lark', definition: 'start: /.+/' };
const custom = { name: 'apply_patch', description: 'Edits files.', format: { type: 'grammar', grammar } };
const call = { id: 'a', type: 'custom', custom: { name: 'apply_patch', input: patch } };
const other = { id: 'b', type: 'function', function: { name: 'ls', arguments: '{"d":1}' } };

/** A request in the form of Copilot CLI's, with a call of each kind and its result in the history. */
const request = {
  model: 'm',
  max_tokens: 9,
  messages: [
    said('user', 'Edit.'),
    { role: 'assistant', content: null, tool_calls: [call, other] },
    { role: 'tool', tool_call_id: 'a', content: 'Done.' },
    { role: 'tool', tool_call_id: 'b', content: 'x' },
  ],
  tools: [
    { type: 'custom', custom },
    { type: 'function', function: { name: 'ls', parameters: { type: 'object' } } },
  ],
  tool_choice: { type: 'custom', custom: { name: 'apply_patch' } },
};

const wrapped = JSON.stringify({ input: patch });
const properties = { input: { type: 'string' } };
const described: unknown = expect.stringMatching(/^Edits files\.[^]+lark[^]+start: /);

function sentTo(upstream: string, body: JsonObject = request, takesCustomTools = false): JsonObject {
  return translationBetween('chat', upstream).translateRequest(parseChatRequest(body), {
    model: 'm',
    takesCustomTools,
  });
}

describe('custom tools of a chat client, with their calls, results and choice', () => {
  it('become functions with one string for a messages upstream', () => {
    expect(sentTo('messages')).toMatchObject({
      messages: [
        said('user', 'Edit.'),
        said('assistant', uses('a', 'b')),
        said('user', [{ tool_use_id: 'a', content: 'Done.' }, { tool_use_id: 'b' }]),
      ],
      tools: [{ name: 'apply_patch', description: described, input_schema: { properties } }, { name: 'ls' }],
      tool_choice: { type: 'tool', name: 'apply_patch' },
    });
  });

  it('become custom tools for a Responses upstream', () => {
    expect(sentTo('responses')).toMatchObject({
      input: [
        { role: 'user' },
        { type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: patch },
        { type: 'function_call', call_id: 'b' },
        { type: 'custom_tool_call_output', call_id: 'a', output: 'Done.' },
        { type: 'function_call_output', call_id: 'b' },
      ],
      tools: [
        { type: 'custom', name: 'apply_patch', description: 'Edits files.', format: { type: 'grammar', ...grammar } },
        { type: 'function', name: 'ls' },
      ],
      tool_choice: { type: 'custom', name: 'apply_patch' },
    });
  });

  it('become functions with one string for a chat upstream without custom tools', () => {
    const parameters = { properties, required: ['input'] };
    const fn = { type: 'function', function: { name: 'apply_patch' } };
    expect(sentTo('chat')).toMatchObject({
      messages: [{}, { tool_calls: [{ ...chatCalls[0], id: 'a' }, other] }, {}, {}],
      tools: [{ ...fn, function: { ...fn.function, description: described, parameters } }, request.tools[1]],
      tool_choice: fn,
    });
    expect(sentTo('chat', request, true)).toEqual(request);
  });

  it('can be among the allowed tools', () => {
    const allowed = { mode: 'required', tools: [{ type: 'custom', custom: { name: 'apply_patch' } }] };
    const body = { ...request, tool_choice: { type: 'allowed_tools', allowed_tools: allowed } };
    expect(sentTo('messages', body)).toMatchObject({ tools: [{ name: 'apply_patch' }], tool_choice: { type: 'any' } });
    const named = { type: 'custom', name: 'apply_patch' };
    expect(sentTo('responses', body)).toMatchObject({ tool_choice: { mode: 'required', tools: [named] } });
    const fn = { type: 'function', function: { name: 'apply_patch' } };
    expect(sentTo('chat', body)).toMatchObject({ tool_choice: { allowed_tools: { tools: [fn] } } });
  });

  it('are refused if the request has none of the chosen name', () => {
    const choice = { type: 'custom', custom: { name: 'other' } };
    expect(() => parseChatRequest({ ...request, tool_choice: choice })).toThrow(/no tool of this name/);
    expect(() => parseChatRequest({ ...request, tools: [{ type: 'custom' }] })).toThrow(/tools\[0\]\.custom/);
  });
});

const pieces = (text: string): string[] => text.match(/[^]{1,7}/g) ?? [];
const item = { type: 'custom_tool_call', id: 'ctc', call_id: 'c0', name: 'apply_patch' };
const fnItem = { type: 'function_call', id: 'fc', call_id: 'c1', name: 'ls', arguments: '{"d":1}' };

/** The same answer from each upstream format: a call of the custom tool and a call of the function, with arguments in the given pieces. */
function streams(json: string): Record<string, (JsonObject | string)[]> {
  return {
    chat: [
      callPiece(0, '', 'apply_patch'),
      ...pieces(json).map((text) => callPiece(0, text)),
      callPiece(1, '{"d":1}', 'ls'),
      chatChunk({}, 'tool_calls'),
      '[DONE]',
    ],
    messages: [
      messageStart,
      ...messageBlock(
        0,
        { type: 'tool_use', id: 'c0', name: 'apply_patch', input: {} },
        ...inputDeltas(...pieces(json)),
      ),
      ...messageBlock(1, { type: 'tool_use', id: 'c1', name: 'ls', input: { d: 1 } }),
      ...messageEnd('tool_use'),
    ],
    responses: [
      { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '' } },
      ...pieces(patch).map((delta) => ({ type: 'response.custom_tool_call_input.delta', item_id: 'ctc', delta })),
      { type: 'response.custom_tool_call_input.done', item_id: 'ctc', input: patch },
      { type: 'response.output_item.done', output_index: 0, item: { ...item, input: patch } },
      { type: 'response.output_item.done', output_index: 1, item: fnItem },
      responseEnd(),
    ],
  };
}

const chatCalls = [
  { id: 'c0', type: 'function', function: { name: 'apply_patch', arguments: wrapped } },
  { ...other, id: 'c1' },
];
const uses = (patchId: string, otherId: string): JsonObject[] => [
  { type: 'tool_use', id: patchId, name: 'apply_patch', input: { input: patch } },
  { type: 'tool_use', id: otherId, name: 'ls', input: { d: 1 } },
];
const answers: Record<string, JsonObject> = {
  chat: { choices: [{ message: { tool_calls: chatCalls } }] },
  messages: { content: uses('c0', 'c1'), stop_reason: 'tool_use' },
  responses: { status: 'completed', output: [{ ...item, input: patch }, fnItem] },
};

interface Choice {
  delta: { tool_calls?: { index: number; custom?: { name?: string; input: string } }[] };
}

describe.each(['chat', 'messages', 'responses'])(
  'a call of a custom tool in the answer of a %s upstream',
  (upstream) => {
    const translation = translationBetween('chat', upstream);
    const recalled = translation.recallFields?.(request);
    const answerContext = { id: 'chatcmpl-1', model: 'm', created: 1, promptTokens: () => 1, recalled };

    it('has its input as text in a whole answer', () => {
      const { body } = translation.translateReply(answers[upstream] ?? {}, answerContext);
      const [choice] = body['choices'] as unknown as { message: JsonObject; finish_reason: string }[];
      expect(choice?.finish_reason).toBe('tool_calls');
      expect(choice?.message['tool_calls']).toEqual([{ ...call, id: 'c0' }, chatCalls[1]]);
    });

    const ways = { 'in its usual form': wrapped, 'under another name': JSON.stringify({ patch }), bare: patch };
    it.each(Object.entries(ways))('has its input as text in a stream where the model wrote it %s', (_, json) => {
      const { text } = runStream(translation.createStream(answerContext), streams(json)[upstream] ?? []);
      const chunks = text.split('\n\n').filter((line) => line.startsWith('data: {'));
      const choices = chunks.flatMap((line) => (JSON.parse(line.slice(6)) as { choices: Choice[] }).choices);
      const calls = choices.flatMap(({ delta }) => delta.tool_calls ?? []);
      const [first, ...more] = calls.filter(({ index }) => index === 0);
      expect(first).toMatchObject({ id: 'c0', type: 'custom', custom: { name: 'apply_patch' } });
      expect([first, ...more].map((each) => each?.custom?.input).join('')).toBe(patch);
      expect(more.every((each) => Object.keys(each).toSorted().join() === 'custom,index')).toBe(true);
      const second = { id: 'c1', type: 'function', function: { name: 'ls' } };
      expect(calls.find(({ index }) => index === 1)).toMatchObject(second);
    });
  },
);
