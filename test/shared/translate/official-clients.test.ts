import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { describe, expect, it } from 'vitest';
import { chatErrorEvent } from '#shared/formats/chat/stream-additions.ts';
import { RouterError } from '#shared/core/errors.ts';
import { messagesErrorEvent } from '#shared/formats/messages/error.ts';
import { sdkAnswer } from '../../helpers/clients/sdk-answer.ts';
import { assembleCompletion } from './assemble-completion.ts';
import { assembleMessage } from './assemble-message.ts';
import { assembleResponse } from './responses/assemble-response.ts';
import { runStream } from './run-stream.ts';
import { translationBetween } from './translation-between.ts';
import { upstreamStreams } from './upstream-streams.ts';

const answerContext = { id: 'id_1', model: 'served', created: 7, promptTokens: () => 11 };
const formats = ['chat', 'messages', 'responses'] as const;
const messages = [{ role: 'user' as const, content: 'hi' }];
const sdks: [string, typeof OpenAI][] = [
  ['current', OpenAI],
  ['Node 20', OpenAI6 as unknown as typeof OpenAI],
];

describe.each(formats)('streams from a %s upstream', (format) => {
  const streamTo = (client: string) => {
    const { text, ending } = runStream(
      translationBetween(client, format).stream(answerContext),
      upstreamStreams[format],
    );
    expect(ending).toMatchObject({ finishReason: 'tool_calls', usage: { promptTokens: 28, completionTokens: 9 } });
    return text;
  };

  it.each(sdks)("are assembled by OpenAI's SDK for chat, the %s one", async (_, Client) => {
    const text = streamTo('chat');
    const runner = new Client(sdkAnswer(text)).chat.completions.stream({ model: 'm', messages });
    const usage = {
      prompt_tokens: 28,
      completion_tokens: 9,
      total_tokens: 37,
      prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 4 },
    };
    const calls = [
      { id: 'c0', name: 'f', arguments: '{"x":1}' },
      { id: 'c1', name: 'g', arguments: '{}' },
    ];
    expect(await runner.finalChatCompletion()).toMatchObject({
      id: 'id_1',
      model: 'served',
      usage,
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'Hello',
            tool_calls: calls.map(({ id, ...fn }) => ({ id, type: 'function', function: fn })),
          },
        },
      ],
    });
    expect(assembleCompletion(text)).toMatchObject({ content: 'Hello', reasoning: 'hm', refusal: '', calls, usage });
  });

  it("are assembled by Anthropic's SDK", async () => {
    const text = streamTo('messages');
    const expected = {
      content: [
        { type: 'thinking', thinking: 'hm', signature: expect.stringMatching(/./) as string },
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', id: 'c0', name: 'f', input: { x: 1 } },
        { type: 'tool_use', id: 'c1', name: 'g', input: {} },
      ],
      usage: { cache_read_input_tokens: 5, cache_creation_input_tokens: 3, output_tokens: 9 },
    };
    const runner = new Anthropic(sdkAnswer(text)).messages.stream({ model: 'm', max_tokens: 9, messages });
    const message = await runner.finalMessage();
    expect(message).toMatchObject({ ...expected, id: 'id_1', model: 'served', stop_reason: 'tool_use' });
    expect(message.usage.input_tokens).toBe(20);
    if (format !== 'messages') expect(assembleMessage(text)).toMatchObject(expected);
  });

  // For a Responses upstream, see responses-to-responses-stream.test.ts.
  const others = format === 'responses' ? [] : sdks;
  it.each(others)("are assembled by OpenAI's SDK for responses, the %s one", async (_, Client) => {
    const text = streamTo('responses');
    const expected = [
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm' }], summary: [] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
      { type: 'function_call', call_id: 'c0', name: 'f', arguments: '{"x":1}' },
      { type: 'function_call', call_id: 'c1', name: 'g', arguments: '{}' },
    ];
    const response = await new Client(sdkAnswer(text)).responses.stream({ model: 'm', input: 'hi' }).finalResponse();
    expect(response).toMatchObject({
      id: 'id_1',
      model: 'served',
      status: 'completed',
      output_text: 'Hello',
      usage: {
        input_tokens: 28,
        input_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 4 },
        total_tokens: 37,
      },
    });
    expect(response.output).toMatchObject(expected);
    expect(assembleResponse(text).items).toMatchObject(expected);
  });

  it('raise errors in both SDKs if they fail midway', async () => {
    const error = new RouterError('worker_lost', 'The worker was lost.');
    const begun = (client: string): string => {
      const stream = translationBetween(client, format).stream(answerContext);
      const events = upstreamStreams[format].slice(0, 4);
      return events.map((event) => stream.event(JSON.stringify(event))).join('');
    };
    const openai = new OpenAI(sdkAnswer(begun('chat') + chatErrorEvent(error)));
    const chat = openai.chat.completions.stream({ model: 'm', messages });
    await expect(chat.finalChatCompletion()).rejects.toMatchObject({ error: { code: 'worker_lost' } });
    const anthropic = new Anthropic(sdkAnswer(begun('messages') + messagesErrorEvent(error, 'r')));
    const stream = anthropic.messages.stream({ model: 'm', max_tokens: 9, messages });
    await expect(stream.finalMessage()).rejects.toMatchObject({ error: { error: { type: 'api_error' } } });
  });
});
