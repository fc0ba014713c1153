import OpenAI7 from 'openai';
import OpenAI6 from 'openai-6';
import type { ResponseInput, ResponseInputItem } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { finishedResponse } from '../../helpers/clients/responses-schema.ts';
import { sdkCluster } from '../../helpers/cluster/sdk-cluster.ts';
import { useStarted } from '../../helpers/use-started.ts';

/** A red dot, 1 × 1 pixel. */
const image =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

const cluster = useStarted(() => sdkCluster());

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

  it('assembles a stream, whose events have numbers without gaps', async () => {
    const runner = client().responses.stream({ model: 'demo', input: 'Count the planets.', store: false });
    const numbers: number[] = [];
    let streamed = '';
    for await (const event of runner) {
      // A keep-alive has a number, too, and no type of the SDK's.
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
    const properties = { name: { type: 'string' }, age: { type: 'integer' } };
    const schema = { type: 'object', properties, required: ['name', 'age'], additionalProperties: false };
    const answer = await client().responses.parse({
      model: 'demo',
      input: 'A person.',
      store: false,
      text: { format: { type: 'json_schema', name: 'person', strict: true, schema } },
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
    const output: ResponseInputItem.FunctionCallOutput['output'] = [
      { type: 'input_text', text: 'sunny' },
      { type: 'input_image', image_url: image, detail: 'low' },
    ];
    input.push(...(first.output as ResponseInput));
    input.push({ type: 'function_call_output', call_id: call?.call_id ?? '', output });
    const second = await client().responses.create({ ...asked, tools: [weather], input });
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
    const refused = client().responses.create(body as unknown as { model: string });
    await expect(refused).rejects.toMatchObject({ status: 400, param });
  });
});

const ask = (body: object) => post({ ...cluster, path: '/openai/v1/responses', body: { model: 'demo', ...body } });

async function answerTo(body: object) {
  const answer = await ask(body);
  expect(answer.status).toBe(200);
  return finishedResponse.parse(await answer.json());
}

interface Event {
  type: string;
  sequence_number: number;
  output_index?: number;
  item_id?: string;
  delta?: string;
  arguments?: string;
  item?: { id: string; type: string };
  response?: { id: string };
}

/** Returns the events of a streamed request; the name of each is its type. */
async function eventsOf(body: object): Promise<Event[]> {
  const answer = await ask({ ...body, stream: true });
  expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const text = await answer.text();
  return Array.from(text.matchAll(/^event: (.+)\ndata: (.+)\n\n/gm), ([, name, data = '']) => {
    const event = JSON.parse(data) as Event;
    expect(event.type).toBe(name);
    return event;
  });
}

const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const locate = {
  type: 'function',
  name: 'get_place',
  description: 'Finds a place',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
const asksForPlace = { input: [user('Use get_place to find "Lake Garda".')], tools: [locate] };

describe('the cases of the public Open Responses suite', () => {
  it('a text, a system message, an earlier answer and an image each give a complete response', async () => {
    const question = { type: 'input_text', text: 'What is this?' };
    const inputs = [
      [user('Greet me in three words.')],
      [{ type: 'message', role: 'system', content: 'You are a sailor.' }, user('Greet me.')],
      [user('I am Ada.'), { type: 'message', role: 'assistant', content: 'Good day, Ada.' }, user('Who am I?')],
      [user([question, { type: 'input_image', image_url: image }])],
    ];
    for (const input of inputs) {
      expect(await answerTo({ input })).toMatchObject({ status: 'completed', output: [{ type: 'message' }] });
    }
  });

  it('a tool gives a call', async () => {
    const { output, tools } = await answerTo(asksForPlace);
    expect(output).toMatchObject([{ type: 'function_call', name: 'get_place', arguments: '{"place":"Lake Garda"}' }]);
    expect(tools).toMatchObject([locate]);
  });

  it('a stream begins, nests its events and ends with the whole response', async () => {
    const events = await eventsOf({ input: [user('Count to five.')] });
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
    const types = events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1]);
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(new Set(events.map(({ response }) => response?.id)).size).toBe(2);
    const whole = finishedResponse.parse(events.at(-1)?.response);
    const [message] = whole.output;
    const deltas = events.map(({ delta = '' }) => delta).join('');
    expect(message).toMatchObject({ type: 'message', content: [{ text: deltas }] });
    const inMessage = events.filter(({ item_id: id }) => id !== undefined);
    expect(new Set(inMessage.map(({ item_id: id }) => id))).toEqual(new Set([message?.id]));
  });

  it('a streamed call has its arguments in pieces and as a whole', async () => {
    const events = await eventsOf(asksForPlace);
    const ofType = (type: string) => events.filter((event) => event.type === type);
    const added = ofType('response.output_item.added');
    expect(added).toMatchObject([{ item: { type: 'function_call' } }]);
    expect(ofType('response.output_item.done')).toMatchObject([{ item: { type: 'function_call' } }]);
    const deltas = ofType('response.function_call_arguments.delta').map(({ delta }) => delta);
    expect(deltas.length).toBeGreaterThan(1);
    const [done] = ofType('response.function_call_arguments.done');
    expect(done).toMatchObject({ arguments: deltas.join(''), item_id: added[0]?.item?.id });
  });
});

describe('a stored response, by the official SDK', () => {
  const openai = () => new OpenAI7({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });

  it('is continued, read and deleted', async () => {
    const { responses } = openai();
    const first = await responses.create({ model: 'demo', input: 'My name is Ada.' });
    expect(await responses.retrieve(first.id)).toMatchObject({ id: first.id, output_text: first.output_text });
    const next = { model: 'demo', input: 'And now?', previous_response_id: first.id };
    expect((await responses.create(next)).output_text).toContain('Messages: 3 (2 user, 1 assistant).');
    await responses.delete(first.id);
    await expect(responses.create(next)).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' });
  });

  it('queues a response in the background, and cancels it before it is over', async () => {
    const input = 'Go on.\n[demo tokens=3000 rate=10]';
    const { id, status } = await openai().responses.create({ model: 'demo', input, background: true });
    expect(status).toBe('queued');
    // Whether a batch runner has begun the response depends on the cluster.
    expect(['queued', 'in_progress']).toContain((await openai().responses.retrieve(id)).status);
    const { data } = await openai().responses.inputItems.list(id);
    expect(data).toMatchObject([{ type: 'message', role: 'user', content: [{ text: input }] }]);
    const cancelled = await openai().responses.cancel(id);
    expect(cancelled).toMatchObject({ id, status: 'cancelled', background: true });
    expect((await openai().responses.retrieve(id)).status).toBe('cancelled');
  });
});
