import { describe, expect, it } from 'vitest';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, isStepCount, streamText, tool, type LanguageModel } from 'ai';
import { z } from 'zod';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';

const cluster = useCluster();

const at = (path: string) => ({ baseURL: `${cluster.url}/api${path}`, apiKey: cluster.key });
const compatible = { name: 'router', includeUsage: true };
const formats: [string, () => (model: string) => LanguageModel][] = [
  ['the messages format (@ai-sdk/anthropic)', () => createAnthropic(at('/anthropic/v1'))],
  ['the chat format (@ai-sdk/openai-compatible)', () => createOpenAICompatible({ ...at('/openai/v1'), ...compatible })],
  ['the Responses format (@ai-sdk/openai)', () => createOpenAI(at('/openai/v1'))],
];

describe.each(formats)('the AI SDK on %s', (_, provider) => {
  it('generates a text', async () => {
    const { text, finishReason, usage } = await generateText({ model: provider()('auto'), prompt: 'Say hello.' });
    expect(text).toContain('Say hello.');
    expect(finishReason).toBe('stop');
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(usage.outputTokens).toBeGreaterThan(0);
  });

  it('streams a text', async () => {
    const { textStream, finishReason, usage } = streamText({ model: provider()('demo'), prompt: 'Count the planets.' });
    let text = '';
    for await (const piece of textStream) text += piece;
    expect(text).toContain('Count the planets.');
    expect(await finishReason).toBe('stop');
    expect((await usage).outputTokens).toBeGreaterThan(0);
  });

  it('goes through two parallel tool calls to an answer', async () => {
    const called: string[] = [];
    const about = (name: string) =>
      tool({
        description: `Tells the ${name}`,
        inputSchema: z.object({ city: z.string() }),
        execute: ({ city }) => {
          called.push(name);
          return `${name} of ${city}: fine`;
        },
      });
    const { text, steps } = await generateText({
      model: provider()('demo'),
      prompt: 'Use get_weather and get_population in parallel for "Oslo".',
      tools: { get_weather: about('get_weather'), get_population: about('get_population') },
      stopWhen: isStepCount(4),
    });
    expect(called.sort()).toEqual(['get_population', 'get_weather']);
    expect(steps).toHaveLength(2);
    expect(text).toContain('get_weather of Oslo: fine');
  });

  it('throws when a stream broke', async () => {
    const errors: unknown[] = [];
    const { fullStream } = streamText({
      model: provider()('demo'),
      prompt: 'Break.\n[demo fault=drop after=5]',
      maxRetries: 0,
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    const kinds = [];
    for await (const part of fullStream) kinds.push(part.type);
    expect(kinds).toContain('error');
    expect(errors).toHaveLength(1);
  });

  it('throws its error class for an unknown model', async () => {
    const asked = generateText({ model: provider()('no-such-model'), prompt: 'hi', maxRetries: 0 });
    await expect(asked).rejects.toSatisfy((error) => APICallError.isInstance(error) && error.statusCode === 404);
  });
});

describe('the AI SDK on every format', () => {
  it.each(formats)('shows thinking on %s', async (_, provider) => {
    const providerOptions = {
      anthropic: { thinking: { type: 'enabled', budgetTokens: 2_000 } },
      router: { reasoningEffort: 'high' },
      // The SDK does not know the model, so the setting has to say that the model thinks.
      openai: { reasoningEffort: 'high', reasoningSummary: 'auto', forceReasoning: true },
    };
    const asked = { model: provider()('demo'), prompt: 'Think first.', providerOptions };
    const { reasoningText, text } = await generateText(asked);
    expect(reasoningText?.length).toBeGreaterThan(0);
    expect(text.length).toBeGreaterThan(0);
  });
});
