import OpenAI7 from 'openai';
import OpenAI6 from 'openai-6';
import type { ResponseInput } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sdkCluster } from '../../helpers/cluster/sdk-cluster.ts';

/** A red dot, 1 × 1 pixel. */
const image =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

let cluster: Awaited<ReturnType<typeof sdkCluster>>;
beforeAll(async () => {
  cluster = await sdkCluster();
});
afterAll(() => cluster.stop());

const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'Tells the weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
};

describe.each([
  { name: 'the current openai SDK', OpenAI: OpenAI7 },
  { name: 'the openai SDK for Node 20', OpenAI: OpenAI6 as unknown as typeof OpenAI7 },
])('$name with Responses', ({ OpenAI }) => {
  const client = (path = '/api/openai/v1') =>
    new OpenAI({ baseURL: cluster.url + path, apiKey: cluster.key, maxRetries: 0 });

  it('creates a response, with /v1 in the base URL and without', async () => {
    for (const path of ['/api/openai/v1', '/api/openai']) {
      const { data, response } = await client(path)
        .responses.create({ model: 'auto', input: 'Say hello.', store: false, metadata: { ticket: '12' } })
        .withResponse();
      expect(data).toMatchObject({
        id: expect.stringMatching(/^resp_/) as string,
        object: 'response',
        status: 'completed',
        model: 'demo',
        store: false,
        metadata: { ticket: '12' },
        error: null,
      });
      expect(data.output_text).toContain('Say hello.');
      const { usage } = data;
      expect(usage?.input_tokens).toBeGreaterThan(0);
      expect(usage?.total_tokens).toBe((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0));
      expect(usage?.input_tokens_details.cached_tokens).toBeGreaterThanOrEqual(0);
      expect(response.headers.get('x-rtr-tier')).toBe('gpu');
    }
  });

  it('puts a stream together, whose events have numbers without gaps', async () => {
    const runner = client().responses.stream({ model: 'demo', input: 'Count the planets.', store: false });
    const numbers: number[] = [];
    let streamed = '';
    for await (const event of runner) {
      // A keep-alive is none of the SDK's types, and has a number too.
      numbers.push(event.sequence_number);
      if (event.type === 'response.output_text.delta') streamed += event.delta;
    }
    const final = await runner.finalResponse();
    expect(numbers).toEqual(numbers.map((_, at) => at));
    expect(final.status).toBe('completed');
    expect(final.output_text).toBe(streamed);
    expect(streamed).toContain('Count the planets.');
  });

  it('parses an answer by a schema', async () => {
    const answer = await client().responses.parse({
      model: 'demo',
      input: 'A person.',
      store: false,
      text: {
        format: {
          type: 'json_schema',
          name: 'person',
          strict: true,
          schema: {
            type: 'object',
            properties: { name: { type: 'string' }, age: { type: 'integer' } },
            required: ['name', 'age'],
            additionalProperties: false,
          },
        },
      },
    });
    expect(answer.output_parsed).toEqual({ name: expect.any(String) as string, age: expect.any(Number) as number });
  });

  it('goes through a tool call to an answer, with thinking replayed', async () => {
    const input: ResponseInput = [{ role: 'user', content: 'How is the weather in Bonn?' }];
    const asked = {
      model: 'demo',
      store: false,
      reasoning: { effort: 'medium' as const, summary: 'auto' as const },
      include: ['reasoning.encrypted_content' as const],
    };
    const first = await client().responses.create({ ...asked, input, tools: [weather], tool_choice: 'required' });
    const call = first.output.find((item) => item.type === 'function_call');
    expect(call).toMatchObject({ name: 'get_weather', status: 'completed' });
    expect(JSON.parse(call?.arguments ?? '')).toEqual({ city: expect.any(String) as string });
    const thinking = first.output.find((item) => item.type === 'reasoning');
    expect(thinking?.summary[0]?.text).toBeTruthy();
    expect(thinking?.content?.[0]?.text).toBe(thinking?.summary[0]?.text);
    expect(thinking?.encrypted_content).toMatch(/^[\w-]{40,}$/);
    expect(first.usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
    const second = await client().responses.create({
      ...asked,
      tools: [weather],
      input: [
        ...input,
        ...(first.output as ResponseInput),
        {
          type: 'function_call_output',
          call_id: call?.call_id ?? '',
          output: [
            { type: 'input_text', text: 'sunny' },
            { type: 'input_image', image_url: image, detail: 'low' },
          ],
        },
      ],
    });
    expect(second.output_text).toContain('sunny');
  });

  it('counts the tokens of an input', async () => {
    const input = 'How long is this?';
    const count = await client().responses.inputTokens.count({ model: 'demo', input, tools: [weather] });
    expect(count.object).toBe('response.input_tokens');
    const answer = await client().responses.create({ model: 'demo', input, tools: [weather], store: false });
    expect(count.input_tokens).toBe(answer.usage?.input_tokens);
  });

  it.each([
    [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input[0].content[0].text'],
    [{ input: [{ role: 'robot', content: 'x' }] }, 'input[0].role'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [{ background: true, store: false }, 'background'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }, 'input[0].call_id'],
    [{ tools: [weather], tool_choice: { type: 'function', name: 'other' } }, 'tool_choice'],
  ])('is refused with the name of the field: %j', async (fields, param) => {
    const body = { model: 'demo', input: 'hi', store: false, ...fields };
    await expect(client().responses.create(body as unknown as { model: string })).rejects.toMatchObject({
      status: 400,
      param,
    });
  });
});
