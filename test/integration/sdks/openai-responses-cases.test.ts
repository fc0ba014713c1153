import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { sdkCluster } from '../../helpers/cluster/sdk-cluster.ts';
import { finishedResponse } from '../../helpers/clients/responses-schema.ts';

let cluster: Awaited<ReturnType<typeof sdkCluster>>;
beforeAll(async () => {
  cluster = await sdkCluster();
});
afterAll(() => cluster.stop());

const ask = (body: object) => post({ ...cluster, path: '/openai/v1/responses', body: { model: 'demo', ...body } });

/** The finished response to a request that is not streamed. */
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

/** The events of a streamed request; each has its type as its name, too. */
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
const image =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const locate = {
  type: 'function',
  name: 'get_place',
  description: 'Finds a place',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
const asksForPlace = { input: [user('Use get_place to find "Lake Garda".')], tools: [locate] };

describe('the cases of the public Open Responses suite', () => {
  it('a text, a system message, an earlier answer and an image each give a complete response', async () => {
    const inputs = [
      [user('Greet me in three words.')],
      [{ type: 'message', role: 'system', content: 'You are a sailor.' }, user('Greet me.')],
      [user('I am Ada.'), { type: 'message', role: 'assistant', content: 'Good day, Ada.' }, user('Who am I?')],
      [
        user([
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: image },
        ]),
      ],
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

describe('a response in the background, by the official SDK', () => {
  const openai = () => new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });

  it('queues a response in the background, and cancels it before it is over', async () => {
    const input = 'tokens=3000 rate=10';
    const { id, status } = await openai().responses.create({ model: 'demo', input, background: true });
    expect(status).toBe('queued');
    // Whether a batch runner has begun it depends on the cluster.
    expect(['queued', 'in_progress']).toContain((await openai().responses.retrieve(id)).status);
    const { data } = await openai().responses.inputItems.list(id);
    expect(data).toMatchObject([{ type: 'message', role: 'user', content: [{ text: input }] }]);
    const cancelled = await openai().responses.cancel(id);
    expect(cancelled).toMatchObject({ id, status: 'cancelled', background: true });
    expect((await openai().responses.retrieve(id)).status).toBe('cancelled');
  });
});
