import { describe, expect, it } from 'vitest';
import { startTestEngine, tool, user } from './start-test-engine.ts';

const call = '{"path": "a]b.txt", "text": "one\\n"}';
const script = user(`Do it.\n[demo call save ${call}]\n[demo say "Saved.\\nTwice."]`);
const called = (id: string) => {
  const calls = [{ id, type: 'function' as const, function: { name: 'save', arguments: '{}' } }];
  return { role: 'assistant' as const, content: null, tool_calls: calls };
};
const result = (id: string) => ({ role: 'tool' as const, tool_call_id: id, content: 'It is there.' });

describe('a script in the prompt', () => {
  it('chooses one answer after another, then the engine answers as usual', async () => {
    const { openai } = await startTestEngine();
    const tools = [tool('save', 'path', 'text'), tool('load', 'path')];
    const ask = async (...messages: Parameters<typeof openai.chat.completions.create>[0]['messages']) =>
      (await openai.chat.completions.create({ model: 'demo', messages: [script, ...messages], tools })).choices[0];

    const message = { tool_calls: [{ function: { name: 'save', arguments: call } }] };
    expect(await ask()).toMatchObject({ finish_reason: 'tool_calls', message });
    expect((await ask(called('1'), result('1')))?.message.content).toBe('Saved.\nTwice.');
    const third = await ask(called('1'), result('1'), called('2'), result('2'));
    expect(third?.message.content).toContain('It is there.');
    const last = await ask({ role: 'assistant', content: 'Saved.' }, user('And now?'));
    expect(last?.message.content).toMatch(/^You said “And now\?”/);
  });

  it('states that its tool is not on offer, and calls nothing without any tools', async () => {
    const { openai } = await startTestEngine();
    const ask = async (more: object) =>
      (await openai.chat.completions.create({ model: 'demo', messages: [script], ...more })).choices[0]?.message;
    const unknown = await ask({ tools: [tool('load', 'path')] });
    expect(unknown?.content).toBe('The script calls save, which is not on offer.');
    expect((await ask({}))?.content).toMatch(/^You said “Do it\.”/);
  });

  it.each(['[demo call save]', '[demo call save {"path": }]', '[demo say It is done.]'])(
    'is refused where a line is invalid: %s',
    async (line) => {
      const { post } = await startTestEngine();
      const answer = await post({ model: 'demo', messages: [user(`Do it.\n${line}`)] });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain('is not understood');
    },
  );
});
