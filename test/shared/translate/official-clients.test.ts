import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { describe, expect, it } from 'vitest';
import { chatErrorEvent } from '#shared/formats/chat/stream-words.ts';
import { RouterError } from '#shared/core/errors.ts';
import { messagesErrorEvent } from '#shared/formats/messages/error.ts';
import { translationBetween } from './translation-between.ts';
import { runStream } from './run-stream.ts';

const minted = { id: 'id_1', model: 'served', created: 7, promptTokens: () => 11 };

function chunk(delta: object, finish: string | null = null): object {
  return { choices: [{ index: 0, delta, finish_reason: finish }] };
}

function functionCall(id: string, name: string, text: string): object {
  return { id: `fc_${id}`, type: 'function_call', call_id: id, name, arguments: text };
}

/** The same answer as each format streams it: thinking, text, two parallel calls. */
const upstream = {
  chat: [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning: 'hm' }),
    chunk({ content: 'Hel' }),
    chunk({ content: 'lo' }),
    chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x"' } }] }),
    chunk({ tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
    chunk({}, 'tool_calls'),
    { choices: [], usage: { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 } },
    '[DONE]',
  ],
  messages: [
    {
      type: 'message_start',
      message: {
        id: 'x',
        type: 'message',
        role: 'assistant',
        model: 'u',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 20, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'a', name: 'f', input: {} } },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"x":1}' } },
    { type: 'content_block_stop', index: 2 },
    { type: 'content_block_start', index: 3, content_block: { type: 'tool_use', id: 'b', name: 'g', input: {} } },
    { type: 'content_block_stop', index: 3 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ],
  responses: [
    { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { id: 'rs', type: 'reasoning', summary: [] } },
    { type: 'response.reasoning_text.delta', item_id: 'rs', content_index: 0, delta: 'hm' },
    { type: 'response.output_item.added', output_index: 1, item: { id: 'm', type: 'message', content: [] } },
    { type: 'response.output_text.delta', item_id: 'm', delta: 'Hel' },
    { type: 'response.output_text.delta', item_id: 'm', delta: 'lo' },
    {
      type: 'response.output_item.added',
      output_index: 2,
      item: { ...functionCall('a', 'f', ''), status: 'in_progress' },
    },
    {
      type: 'response.output_item.added',
      output_index: 3,
      item: { ...functionCall('b', 'g', ''), status: 'in_progress' },
    },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_a', delta: '{"x"' },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_b', delta: '{}' },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_a', delta: ':1}' },
    { type: 'response.output_item.done', output_index: 2, item: functionCall('a', 'f', '{"x":1}') },
    { type: 'response.output_item.done', output_index: 3, item: functionCall('b', 'g', '{}') },
    {
      type: 'response.completed',
      response: { status: 'completed', usage: { input_tokens: 20, output_tokens: 9, total_tokens: 29 } },
    },
  ],
};

/** Replaces the network: answers every request with this stream. */
function answering(stream: string): typeof fetch {
  return () => Promise.resolve(new Response(stream, { headers: { 'content-type': 'text/event-stream' } }));
}

const messages = [{ role: 'user' as const, content: 'hi' }];
const formats = ['chat', 'messages', 'responses'] as const;

function openai(Client: typeof OpenAI | typeof OpenAI6, stream: string): OpenAI {
  return new Client({ apiKey: 'k', fetch: answering(stream), maxRetries: 0 }) as OpenAI;
}
function anthropic(stream: string): Anthropic {
  return new Anthropic({ apiKey: 'k', fetch: answering(stream), maxRetries: 0 });
}

describe.each(formats)('streams from a %s upstream', (format) => {
  it.each([
    ['current', OpenAI],
    ['Node 20', OpenAI6],
  ])("are put together by OpenAI's SDK, the %s one", async (_, Client) => {
    const { text } = runStream(translationBetween('chat', format).stream(minted), upstream[format]);
    const runner = openai(Client, text).chat.completions.stream({ model: 'm', messages });
    const completion = await runner.finalChatCompletion();
    expect(completion).toMatchObject({
      id: 'id_1',
      model: 'served',
      usage: { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 },
    });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: 'Hello',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
          { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
    });
  });

  it("are assembled by Anthropic's SDK", async () => {
    const { text } = runStream(translationBetween('messages', format).stream(minted), upstream[format]);
    const message = await anthropic(text).messages.stream({ model: 'm', max_tokens: 9, messages }).finalMessage();
    expect(message).toMatchObject({
      id: 'id_1',
      model: 'served',
      stop_reason: 'tool_use',
      usage: { input_tokens: 20, output_tokens: 9 },
      content: [
        { type: 'thinking', thinking: 'hm', signature: expect.stringMatching(/./) as string },
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
        { type: 'tool_use', id: 'b', name: 'g', input: {} },
      ],
    });
  });

  it('that fail midway are errors in both SDKs', async () => {
    const error = new RouterError('worker_lost', 'The worker was lost.');
    const begun = (client: string) =>
      upstream[format]
        .slice(0, 4)
        .map(
          (() => {
            const stream = translationBetween(client, format).stream(minted);
            return (event: object | string) => stream.event(JSON.stringify(event));
          })(),
        )
        .join('');
    const chat = openai(OpenAI, begun('chat') + chatErrorEvent(error)).chat.completions.stream({
      model: 'm',
      messages,
    });
    await expect(chat.finalChatCompletion()).rejects.toMatchObject({ error: { code: 'worker_lost' } });
    const stream = anthropic(begun('messages') + messagesErrorEvent(error, 'r')).messages.stream({
      model: 'm',
      max_tokens: 9,
      messages,
    });
    await expect(stream.finalMessage()).rejects.toMatchObject({ error: { error: { type: 'api_error' } } });
  });
});
