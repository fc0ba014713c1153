import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { sdkAnswer } from '../../helpers/clients/sdk-answer.ts';
import { assembleCompletion } from './assemble-completion.ts';
import { assembleMessage } from './assemble-message.ts';
import { assembleResponse } from './responses/assemble-response.ts';
import { runStream } from './run-stream.ts';
import { translationBetween } from './translation-between.ts';
import { chatUsage, responseEnd, upstreamStreams } from './upstream-streams.ts';

const answerContext = { id: 'id_1', model: 'served', created: 7, promptTokens: () => 11 };
const formats = ['chat', 'messages', 'responses'] as const;
const messages = [{ role: 'user' as const, content: 'hi' }];
const sdks: [string, typeof OpenAI][] = [
  ['current', OpenAI],
  ['Node 20', OpenAI6 as unknown as typeof OpenAI],
];

describe.each(formats)('streams from a %s upstream', (format) => {
  const streamTo = (client: string) => {
    const translation = translationBetween(client, format).createStream(answerContext);
    const { text, ending } = runStream(translation, upstreamStreams[format]);
    expect(ending).toMatchObject({ finishReason: 'tool_calls', usage: { promptTokens: 28, completionTokens: 9 } });
    return text;
  };

  it.each(sdks)("are assembled by OpenAI's SDK for chat, the %s one", async (_, Client) => {
    const text = streamTo('chat');
    const runner = new Client(sdkAnswer(text)).chat.completions.stream({ model: 'm', messages });
    const calls = [
      { id: 'c0', name: 'f', arguments: '{"x":1}' },
      { id: 'c1', name: 'g', arguments: '{}' },
    ];
    const tool_calls = calls.map(({ id, ...fn }) => ({ id, type: 'function', function: fn }));
    const message = { role: 'assistant', content: 'Hello', tool_calls };
    const choices = [{ finish_reason: 'tool_calls', message }];
    const fields = { id: 'id_1', model: 'served', usage: chatUsage };
    expect(await runner.finalChatCompletion()).toMatchObject({ ...fields, choices });
    const said = { content: 'Hello', reasoning: 'hm', refusal: '' };
    expect(assembleCompletion(text)).toMatchObject({ ...said, calls, usage: chatUsage });
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
    const { usage } = responseEnd()['response'] as { usage: JsonObject };
    const fields = { id: 'id_1', model: 'served', status: 'completed', output_text: 'Hello', usage };
    expect(response).toMatchObject({ ...fields, output: expected });
    expect(assembleResponse(text).items).toMatchObject(expected);
  });
});
