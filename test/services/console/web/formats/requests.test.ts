import { describe, expect, it } from 'vitest';
import { chat } from '#services/console/web/formats/chat.ts';
import { messages } from '#services/console/web/formats/messages.ts';
import { responses } from '#services/console/web/formats/responses.ts';
import { newAnswer, type AssistantTurn, type Settings, type Turn } from '#services/console/web/formats/conversation.ts';
import { toCurlCommand } from '#services/console/web/formats/to-curl-command.ts';
import { parseTools } from '#services/console/web/pages/playground/parse-tools.ts';

const unset = { maxTokens: '', temperature: '', thinking: false } as const;
const tools = [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' } }];
const settings: Settings = { model: 'demo', system: 'Be brief.', tools, ...unset };
const image = 'data:image/png;base64,AAAA';
const answered = { id: 'c1', name: 'add', input: '{"a":1}', result: { text: 'no', isError: true } };
const unanswered = { id: 'c2', name: 'add', input: '' };
const turns: Turn[] = [
  { role: 'user', text: 'Look.', images: [image] },
  { ...newAnswer('messages'), text: 'Wait.', thinking: 'Hm.', signature: 'sig', toolCalls: [answered, unanswered] },
];

describe('a conversation as a request', () => {
  const look = { type: 'text', text: 'Look.' };

  it('in the chat format has images as URLs, and tool calls with their results', () => {
    const called = { name: 'add', arguments: '{"a":1}' };
    expect(chat.buildRequest(turns, settings)).toMatchObject({
      model: 'demo',
      stream: true,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [look, { type: 'image_url', image_url: { url: image } }] },
        { role: 'assistant', content: 'Wait.', tool_calls: [{ id: 'c1', type: 'function', function: called }] },
        { role: 'tool', tool_call_id: 'c1', content: 'no' },
      ],
      tools: [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }],
    });
  });

  it('in the messages format has images as bytes, signed thinking, and results as a turn of the user', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'sig' };
    const call = { type: 'tool_use', id: 'c1', name: 'add', input: { a: 1 } };
    expect(messages.buildRequest(turns, settings)).toMatchObject({
      max_tokens: 4_096,
      system: 'Be brief.',
      messages: [
        { role: 'user', content: [{ type: 'image', source }, look] },
        { role: 'assistant', content: [thought, { type: 'text', text: 'Wait.' }, call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'no', is_error: true }] },
      ],
      tools: [{ name: 'add', description: 'Adds.', input_schema: { type: 'object' } }],
    });
  });

  it('in the Responses format consists of items, the sealed thinking first', () => {
    const [asked, answer] = turns;
    const sealed = { ...(answer as AssistantTurn), format: 'responses', signature: 'one\ntwo' };
    const picture = { type: 'input_image', image_url: image, detail: 'auto' };
    expect(responses.buildRequest([asked as Turn, sealed], { ...settings, thinking: true, maxTokens: 9 })).toEqual({
      model: 'demo',
      stream: true,
      store: false,
      instructions: 'Be brief.',
      max_output_tokens: 9,
      reasoning: { effort: 'medium', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      input: [
        { type: 'message', role: 'user', content: [{ ...look, type: 'input_text' }, picture] },
        { type: 'reasoning', summary: [], encrypted_content: 'one' },
        { type: 'reasoning', summary: [], encrypted_content: 'two' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Wait.', annotations: [] }] },
        { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'no' },
      ],
      tools: [{ type: 'function', name: 'add', description: 'Adds.', parameters: { type: 'object' } }],
    });
  });

  it('omits signatures of another format', () => {
    expect(JSON.stringify(responses.buildRequest(turns, settings))).not.toContain('sig');
    const sealed = turns.map((turn) => (turn.role === 'assistant' ? { ...turn, format: 'responses' } : turn));
    expect(JSON.stringify(messages.buildRequest(sealed, settings))).not.toMatch(/sig|thinking/);
  });

  it('leaves out settings that are not set and answers that never began', () => {
    const plain = { ...settings, system: ' ', tools: [] };
    const asked: Turn[] = [{ role: 'user', text: 'Hi', images: [] }, newAnswer('chat')];
    const bare = { model: 'demo', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    expect(chat.buildRequest(asked, plain)).toEqual({ ...bare, stream_options: { include_usage: true } });
    const thinking = { type: 'enabled', budget_tokens: 2_048 };
    const thoughtful = { ...plain, thinking: true, maxTokens: 10, temperature: 1 } as const;
    expect(messages.buildRequest(asked, thoughtful)).toEqual({ ...bare, max_tokens: 2_049, thinking });
  });

  it('as a shell command has no key, short images and escaped quotes', () => {
    const images = [`data:image/png;base64,${'A'.repeat(9_000)}`];
    const body = chat.buildRequest([{ role: 'user', text: "It's", images }], settings);
    const command = toCurlCommand('http://h/api', messages.headers, body);
    expect(command).toContain('Bearer $RTR_KEY');
    expect(command).toContain('-H "anthropic-version: 2023-06-01"');
    expect(command).toContain(String.raw`It'\''s`);
    expect(command.length).toBeLessThan(1_500);
  });
});

describe('tools written by hand', () => {
  it('are read in the notation of any format, one or many', () => {
    const read = { tools: [{ name: 'a', description: '', inputSchema: { type: 'object' } }] };
    expect(parseTools('{"name": "a", "input_schema": {"type": "object"}}')).toEqual(read);
    const ofChat = '[{"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}}]';
    expect(parseTools(ofChat)).toEqual(read);
    expect(parseTools(' ')).toEqual({ tools: [] });
  });

  it('are refused with a reason', () => {
    expect(parseTools('{"name"').problem).toMatch(/not JSON/);
    expect(parseTools('[1]').problem).toMatch(/needs a name/);
  });
});
