import { describe, expect, it } from 'vitest';
import { chooseToolCalls } from '#services/demo-engine/answer/choose-tool-calls.ts';
import { chatRequestSchema } from '#services/demo-engine/request/chat-request.ts';
import { readTurn } from '#services/demo-engine/request/read-turn.ts';
import { tool, user } from '../start-test-engine.ts';
import { said, textBlock } from '../../../helpers/formats/said.ts';

const ofFiles = [tool('Read', 'file_path'), tool('Write', 'file_path', 'content')];
const task = tool('Task', 'description', 'prompt');
const agentTools = [task, tool('Bash', 'command'), ...ofFiles, tool('WebFetch', 'url', 'prompt')];

const tools = [tool('get_time', 'city'), tool('get_weather', 'city')];

/** Returns the calls for messages, each as an object with the arguments by the name of the tool. */
function callsFor(asked: object[] | string, tools: object[] = agentTools, more: object = {}): object[] {
  const messages = typeof asked === 'string' ? [user(asked)] : asked;
  const request = chatRequestSchema.parse({ model: 'demo', messages, tools, ...more });
  const calls = chooseToolCalls(request, readTurn(request.messages));
  return calls.map((call) => ({ [call.name]: JSON.parse(call.arguments) as unknown }));
}

describe('the calls of an answer', () => {
  it('reads the file that the user names, with the tool that the user names', () => {
    const polite = callsFor('Read the file /x/y.txt with the Read tool and tell me what it says.');
    expect(polite).toEqual([{ Read: { file_path: '/x/y.txt' } }]);
    const calls = callsFor('use the read tool on src/app.ts', [tool('read', 'filePath')]);
    expect(calls).toEqual([{ read: { filePath: 'src/app.ts' } }]);
    expect(callsFor('Please read /etc/hosts.')).toEqual([{ Read: { file_path: '/etc/hosts' } }]);
  });

  it('calls once for each of several files', () => {
    const calls = callsFor('Read /a.txt and "/b c.txt" with the Read tool');
    expect(calls).toEqual([{ Read: { file_path: '/a.txt' } }, { Read: { file_path: '/b c.txt' } }]);
  });

  it.each([
    'Hello!',
    'Write a poem about the sea.',
    'Help me with task 3.',
    'Do not use the Read tool on /x/y.txt.',
    'Answer without tools.',
    "Don't call any tool.",
    'Can a tool be both sharp and safe?',
  ])('calls nothing for “%s”', (text) => {
    expect(callsFor(text)).toEqual([]);
  });

  it('runs only a command that the user quotes', () => {
    expect(callsFor('Use the Bash tool to run `ls -la`')).toEqual([{ Bash: { command: 'ls -la' } }]);
    expect(callsFor('Use the Bash tool to clean up')).toEqual([{ Bash: { command: 'echo demo' } }]);
  });

  it('gives several tools the words next to their names', () => {
    const calls = callsFor('Call get_weather for Paris and get_time for New York.', tools);
    expect(calls).toEqual([{ get_weather: { city: 'Paris' } }, { get_time: { city: 'New York' } }]);
    expect(callsFor('Call get_weather and get_time for Oslo', tools, { parallel_tool_calls: false })).toHaveLength(1);
  });

  it('repeats a call as often as the text says', () => {
    const counts = Object.entries({ twice: 2, '3 times': 3, 'in parallel': 2, '999 times': 8 });
    for (const [often, count] of counts)
      expect(callsFor(`Use roll_dice ${often}`, [tool('roll_dice', 'name')])).toHaveLength(count);
  });

  it('chooses the best matching tool when none is named', () => {
    expect(callsFor('What is the weather in Rome? Use a tool.', tools)).toEqual([{ get_weather: { city: 'Rome' } }]);
    expect(callsFor('Use both tools for Rome', tools)).toHaveLength(2);
  });

  it('calls nothing where the text forbids all tools, unless the request requires a call', () => {
    const summarize = 'Respond with TEXT ONLY. Do NOT call any tools. Then read the files that matter: /a.ts';
    expect(callsFor(summarize)).toEqual([]);
    expect(callsFor(summarize, agentTools, { tool_choice: 'required' })).toHaveLength(1);
    expect(callsFor('Do not use tools that write. Read /a.ts with the Read tool.')).toHaveLength(1);
  });

  it('follows tool_choice', () => {
    expect(callsFor('Hello', agentTools, { tool_choice: 'required' })).toHaveLength(1);
    expect(callsFor('Use the Read tool', agentTools, { tool_choice: 'none' })).toEqual([]);
    const named = { tool_choice: { type: 'function', function: { name: 'WebFetch' } } };
    const calls = callsFor('Look at https://example.org/x?y=1.', agentTools, named);
    expect(calls).toMatchObject([{ WebFetch: { url: 'https://example.org/x?y=1' } }]);
  });

  const call = { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'Read', arguments: '{}' } }] };
  const result = { role: 'tool', tool_call_id: 'c', content: 'hello' };
  const ask = user('Read /x/y.txt with the Read tool');

  it('makes no further call once tools have answered, even with tool_choice required', () => {
    expect(callsFor([ask, call, result])).toEqual([]);
    expect(callsFor([ask, call, result], agentTools, { tool_choice: 'required' })).toEqual([]);
  });

  it('ignores the blocks that agents insert', () => {
    const reminder = user('<system-reminder>Use the Bash tool often.</system-reminder>');
    const late = said('system', 'Use the Write tool.');
    expect(callsFor([reminder, ask, late])).toEqual([{ Read: { file_path: '/x/y.txt' } }]);
    expect(callsFor([ask, call, result, reminder, late])).toEqual([]);
    const mixed = said('user', [textBlock(reminder.content), textBlock(ask.content)]);
    expect(callsFor([mixed])).toEqual([{ Read: { file_path: '/x/y.txt' } }]);
  });

  it('calls again when the user asks again', () => {
    expect(callsFor([ask, call, result, said('assistant', 'It says hello.'), ask])).toHaveLength(1);
  });
});
