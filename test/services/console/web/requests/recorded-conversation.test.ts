import { describe, expect, it } from 'vitest';
import { answerParts, requestParts } from '#services/console/web/pages/requests/recorded-conversation.ts';

const streamOf = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

describe('a recorded request', () => {
  it('is shown as its conversation, in each format', () => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Hi' }, { type: 'image_url' }] },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1' }] },
    ];
    const [first, second] = requestParts(JSON.stringify({ messages })) ?? [];
    expect(first).toMatchObject({ role: 'user', text: expect.stringMatching(/^Hi\n\{/) });
    expect(second).toMatchObject({ role: 'assistant', text: expect.stringContaining('c1') });
    const hi = { role: 'user', text: 'Hi' };
    const plain = JSON.stringify({ system: 'Be brief.', messages: [{ role: 'user', content: 'Hi' }] });
    expect(requestParts(plain)).toEqual([{ role: 'system', text: 'Be brief.' }, hi]);
    expect(requestParts(JSON.stringify({ input: 'Hi' }))).toEqual([hi]);
    const said = { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] };
    const input = [said, { type: 'function_call', name: 'f' }];
    expect(requestParts(JSON.stringify({ input }))).toMatchObject([{ text: 'Hi' }, { role: 'function_call' }]);
  });

  it('that was cut, or is in no known format, is shown as raw text', () => {
    for (const text of ['{"messages": [', '[]', 'null', '', '{}', '{"messages": 7}'])
      expect(requestParts(text)).toBeUndefined();
  });

  it('that would keep a page busy or break it is shown as raw text', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(requestParts(`{"messages": [{"role": "user", "content": ${deep}}]}`)).toBeUndefined();
    const broken = `data: {"choices": [{"delta": {"content": "Hi"}}]}\n\ndata: {"error": ${deep}}\n`;
    expect(answerParts(broken)).toEqual([{ role: 'assistant', text: 'Hi' }]);
    expect(requestParts(JSON.stringify({ input: Array.from({ length: 100_000 }, () => '') }))).toBeUndefined();
    const brackets = JSON.stringify({ input: `\\"${deep}` });
    expect(requestParts(brackets)).toEqual([{ role: 'user', text: `\\"${deep}` }]);
  });
});

describe('a recorded answer', () => {
  it('is shown as its conversation, whole or streamed, in each format', () => {
    const said = [{ role: 'assistant', text: 'Hello' }];
    const message = { role: 'assistant', content: 'Hello' };
    expect(answerParts(JSON.stringify({ choices: [{ message }] }))).toEqual(said);
    expect(answerParts(JSON.stringify({ content: [{ type: 'text', text: 'Hello' }] }))).toEqual(said);
    const output = [{ role: 'assistant', content: [{ text: 'Hello' }] }];
    expect(answerParts(JSON.stringify({ output }))).toEqual(said);
    const chunk = (delta: object) => ({ choices: [{ delta }] });
    const chat = streamOf(chunk({ content: 'Hel' }), chunk({ content: 'lo' }));
    expect(answerParts(`${chat}data: [DONE]\n\n`)).toEqual(said);
    const block = (text: string) => ({ type: 'content_block_delta', delta: { type: 'text_delta', text } });
    expect(answerParts(streamOf(block('Hel'), block('lo')))).toEqual(said);
    const delta = (text: string) => ({ type: 'response.output_text.delta', delta: text });
    expect(answerParts(streamOf(delta('Hel'), delta('lo')))).toEqual(said);
    expect(answerParts(streamOf(delta('Hel'), { type: 'response.completed', response: { output } }))).toEqual(said);
  });

  it('shows the tool calls of a stream, put together', () => {
    const call = (called: object) => ({ choices: [{ delta: { tool_calls: [{ index: 0, function: called }] } }] });
    const parts = [{ name: 'f', arguments: '' }, { arguments: '{"a":' }, { arguments: '1}' }];
    expect(answerParts(streamOf(...parts.map(call)))).toEqual([{ role: 'tool call', text: 'f {"a":1}' }]);
    const messages = streamOf(
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', name: 'f' } },
      { type: 'content_block_delta', index: 1, delta: { partial_json: '{"a":1}' } },
    );
    expect(answerParts(messages)).toEqual([{ role: 'tool call', text: 'f {"a":1}' }]);
  });

  it('shows tool calls whose parts are not texts', () => {
    const odd = { toString: 1, valueOf: 1 };
    const chat = { choices: [{ delta: { tool_calls: [{ index: odd, function: { name: odd, arguments: odd } }] } }] };
    const [said] = answerParts(streamOf(chat)) ?? [];
    expect(said?.text).toContain('"toString": 1');
  });

  it('shows the error', () => {
    expect(answerParts(JSON.stringify({ error: { message: 'No.' } }))).toEqual([{ role: 'error', text: 'No.' }]);
    expect(answerParts('nothing of ours')).toBeUndefined();
  });
});
