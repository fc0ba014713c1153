import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, type ModelMessage, tool } from 'ai';
import OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { useStarted } from '../helpers/use-started.ts';

/** The same client at two ingress nodes. */
let here: OpenAI;
let there: OpenAI;

const cluster = useCluster();
const other = useStarted(() => cluster.otherIngress());
beforeAll(() => {
  here = clientAt(cluster.url);
  there = clientAt(other.url);
});

function clientAt(url: string, prefix = '/v1', apiKey = cluster.key): OpenAI {
  return new OpenAI({ baseURL: `${url}/api/openai${prefix}`, apiKey, maxRetries: 0 });
}

/** Returns the status, message, code and param of a refusal. */
async function refusal(asked: Promise<unknown>): Promise<object> {
  const error: unknown = await asked.catch((thrown: unknown) => thrown);
  if (!(error instanceof OpenAI.APIError)) throw new Error('it was not refused', { cause: error });
  const { status, code, param } = error;
  const { message } = error.error as { message: string };
  return { status, message, code, param };
}

describe('previous_response_id', () => {
  it('continues a conversation at the other ingress, without its instructions', async () => {
    const first = await here.responses.create({ model: 'demo', instructions: 'Be brief.', input: 'My name is Ada.' });
    expect(first).toMatchObject({ status: 'completed', store: true, previous_response_id: null });
    const asked = { model: 'demo', input: 'What is my name? [demo echo]' };
    const second = await there.responses.create({ ...asked, previous_response_id: first.id });
    expect(second.previous_response_id).toBe(first.id);
    const alone = await there.responses.create({ ...asked, store: false });
    // The demo engine counts the tokens that it received.
    expect(second.usage?.input_tokens).toBeGreaterThan((alone.usage?.input_tokens ?? 0) + 5);
    const count = { model: 'demo', input: 'And now?' };
    const continued = await there.responses.inputTokens.count({ ...count, previous_response_id: second.id });
    const { input_tokens: short } = await there.responses.inputTokens.count(count);
    expect(continued.input_tokens).toBeGreaterThan(short + 10);
    const third = await here.responses.create({ model: 'demo', input: 'And now?', previous_response_id: second.id });
    expect(third.usage?.input_tokens).toBeGreaterThan(second.usage?.input_tokens ?? 0);
  });

  it('continues a stream at the moment at which it ends', async () => {
    for (const [one, other] of [
      [here, there],
      [there, here],
    ] as const) {
      const stream = one.responses.stream({ model: 'demo', input: 'Count the planets.' });
      const { id, output_text: text } = await stream.finalResponse();
      expect(text).toContain('Count the planets.');
      const found = await other.responses.retrieve(id);
      expect(found).toMatchObject({ id, status: 'completed', output_text: text });
      const next = other.responses.stream({ model: 'demo', input: 'Go on.', previous_response_id: id });
      expect((await next.finalResponse()).previous_response_id).toBe(id);
    }
  });

  it('is refused for an unknown response, for one of another owner, and for one that was not stored', async () => {
    const { raw } = await cluster.addKey({});
    const stored = await here.responses.create({ model: 'demo', input: 'mine' });
    const kept = await here.responses.create({ model: 'demo', input: 'mine', store: false });
    expect(kept).toMatchObject({ store: false });
    const asked: [OpenAI, string][] = [
      [here, 'resp_unknown'],
      [clientAt(other.url, '', raw), stored.id],
      [there, kept.id],
    ];
    for (const [client, id] of asked) {
      const answer = client.responses.create({ model: 'demo', input: 'And?', previous_response_id: id });
      expect(await refusal(answer)).toEqual({
        status: 400,
        message: `Previous response with id '${id}' not found.`,
        code: 'previous_response_not_found',
        param: 'previous_response_id',
      });
    }
  });
});

describe('a stored response', () => {
  it('counts its refusals under its own format', async () => {
    const unkeyed = clientAt(cluster.url, '/v1', 'wrong');
    const refusals = async (): Promise<string[]> => {
      const metrics = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
      return metrics.split('\n').filter((line) => line.startsWith('rtr_refusals_total'));
    };
    const before = await refusals();
    expect(await refusal(here.responses.inputItems.list('resp_none'))).toMatchObject({ status: 404 });
    expect(await refusal(unkeyed.responses.retrieve('resp_none'))).toMatchObject({ status: 401 });
    const changed = (await refusals()).filter((line) => !before.includes(line));
    const counted = (format: string, code: string): boolean =>
      changed.some((line) => line.includes(`format="${format}"`) && line.includes(`code="${code}"`));
    for (const code of ['not_found', 'invalid_api_key']) {
      expect(counted('responses', code), code).toBe(true);
      expect(counted('chat', code), code).toBe(false);
    }
  });

  it('is read, listed and removed by its owner at both prefixes, and unknown to others', async () => {
    const { raw } = await cluster.addKey({});
    const [plain, stranger] = [clientAt(other.url, ''), clientAt(other.url, '/v1', raw)];
    const created = await here.responses.create({ model: 'demo', input: 'Hello there.' });
    for (const client of [there, plain]) expect(await client.responses.retrieve(created.id)).toEqual(created);
    const unknown = { status: 404, message: `Response with id '${created.id}' not found.` };
    for (const act of ['retrieve', 'delete', 'cancel'] as const)
      expect(await refusal(stranger.responses[act](created.id))).toMatchObject(unknown);
    expect(await refusal(stranger.responses.inputItems.list(created.id))).toMatchObject(unknown);

    const running = { status: 400, message: 'Cannot cancel a synchronous response.' };
    expect(await refusal(there.responses.cancel(created.id))).toMatchObject(running);
    const answer = await fetch(`${other.url}/api/openai/responses/${created.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${cluster.key}` },
    });
    expect(await answer.json()).toEqual({ id: created.id, object: 'response', deleted: true });
    expect(await refusal(here.responses.retrieve(created.id))).toMatchObject(unknown);
    expect(await refusal(here.responses.delete(created.id))).toMatchObject(unknown);
  });

  it('lists the items of its input page by page', async () => {
    const contents = Array.from({ length: 7 }, (_, at) => `message ${at}`);
    const input = contents.map((content) => ({ role: 'user' as const, content }));
    const { id } = await here.responses.create({ model: 'demo', input });
    const found: unknown[] = [];
    for await (const item of there.responses.inputItems.list(id, { limit: 3, order: 'asc' })) found.push(item);
    expect(found).toMatchObject(input);
    const page = await there.responses.inputItems.list(id);
    expect(page.data.map((item) => 'content' in item && item.content)).toEqual(contents.toReversed());
    expect(page.has_more).toBe(false);
  });

  it('refuses to be streamed, other methods, and requests without a key', async () => {
    const { id } = await here.responses.create({ model: 'demo', input: 'Hello.' });
    const streamed = here.responses.retrieve(id, { stream: true }) as Promise<unknown>;
    expect(await refusal(streamed)).toMatchObject({ status: 400, param: 'stream' });
    const status = async (method: string, path: string, key = cluster.key): Promise<unknown[]> => {
      const url = `${cluster.url}/api/openai/v1/responses${path}`;
      const answer = await fetch(url, { method, headers: { authorization: `Bearer ${key}` } });
      return [answer.status, answer.headers.get('allow')];
    };
    expect(await status('PUT', `/${id}`)).toEqual([405, 'GET, HEAD, DELETE']);
    expect(await status('POST', `/${id}/input_items`)).toEqual([405, 'GET, HEAD']);
    expect(await status('GET', `/${id}/cancel`)).toEqual([405, 'POST']);
    expect(await status('GET', '/input_tokens')).toEqual([405, 'POST']);
    expect(await status('GET', `/${id}`, 'wrong')).toEqual([401, null]);
    expect(await status('DELETE', `/${id}`, 'wrong')).toEqual([401, null]);
  });
});

describe('item_reference', () => {
  it('lets the AI SDK go through steps with its default provider', async () => {
    const bodies: { input: { type?: string }[]; store?: boolean }[] = [];
    const provider = createOpenAI({
      baseURL: `${cluster.url}/api/openai/v1`,
      apiKey: cluster.key,
      fetch: (url, init) => {
        if (typeof url !== 'string' || typeof init?.body !== 'string') throw new Error('it asks in another way');
        bodies.push(JSON.parse(init.body) as (typeof bodies)[number]);
        return fetch(bodies.length % 2 === 0 ? url.replace(cluster.url, other.url) : url, init);
      },
    });
    const weather = tool({
      description: 'Tells the weather',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => `weather of ${city}: fine`,
    });
    const settings = {
      model: provider('demo'),
      tools: { get_weather: weather },
      stopWhen: isStepCount(4),
      providerOptions: { openai: { reasoningEffort: 'low', forceReasoning: true } },
    };
    const first = await generateText({ ...settings, prompt: 'Use get_weather for "Oslo".' });
    expect(first.steps).toHaveLength(2);
    expect(first.text).toContain('weather of Oslo: fine');
    const messages: ModelMessage[] = [...first.response.messages, { role: 'user', content: 'Thank you.' }];
    const second = await generateText({ ...settings, messages });
    expect(second.text).not.toBe('');
    expect(bodies.map(({ input }) => input.filter(({ type }) => type === 'item_reference').length)).toEqual([0, 1, 2]);
  });

  it('of an unknown item is refused', async () => {
    const input: ResponseInputItem[] = [{ type: 'item_reference', id: 'rs_unknown' }];
    expect(await refusal(here.responses.create({ model: 'demo', input }))).toMatchObject({
      status: 404,
      message: expect.stringMatching(/^Item with id 'rs_unknown' not found\./) as string,
      param: 'input',
    });
  });
});

describe('a compacted conversation', () => {
  const input: ResponseInputItem[] = [
    { role: 'user', content: 'My name is Ada.' },
    { role: 'assistant', content: 'Hello Ada.' },
  ];

  it('is one sealed item, which later requests of its owner go on with', async () => {
    const compacted = await here.responses.compact({ model: 'demo', input });
    expect(compacted).toMatchObject({ object: 'response.compaction', output: [{ type: 'compaction' }] });
    expect(compacted.id).toMatch(/^resp_/);
    expect(compacted.usage.output_tokens).toBeGreaterThan(0);
    expect(JSON.stringify(compacted)).not.toContain('Ada');
    const items = compacted.output as ResponseInputItem[];
    const next = await there.responses.create({ model: 'demo', input: [...items, { role: 'user', content: 'And?' }] });
    const alone = await there.responses.create({ model: 'demo', input: 'And?' });
    expect(next.usage?.input_tokens).toBeGreaterThan((alone.usage?.input_tokens ?? 0) + 5);
    const { raw } = await cluster.addKey({});
    const stolen = clientAt(other.url, '/v1', raw).responses.create({ model: 'demo', input: items });
    expect(await refusal(stolen)).toMatchObject({ status: 400, param: 'input[0].encrypted_content' });
    expect(await refusal(here.responses.retrieve(compacted.id))).toMatchObject({ status: 404 });
  });

  it('may be a stored one', async () => {
    const { id } = await here.responses.create({ model: 'demo', input });
    const { output, usage } = await there.responses.compact({ model: 'demo', previous_response_id: id });
    expect(output).toHaveLength(1);
    const short = await there.responses.compact({ model: 'demo', input: 'Hi.' });
    expect(usage.input_tokens).toBeGreaterThan(short.usage.input_tokens);
  });

  it('is streamed as one item to a client that ends its input in a trigger', async () => {
    const tools: OpenAI.Responses.Tool[] = [{ type: 'function', name: 'get_weather', parameters: {}, strict: false }];
    const asked = [...input, { type: 'compaction_trigger' }] as ResponseInputItem[];
    const stream = here.responses.stream({ model: 'demo', input: asked, tools, store: false });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types.filter((type) => type !== 'response.in_progress')).toEqual([
      'response.created',
      'response.output_item.added',
      'response.output_item.done',
      'response.completed',
    ]);
    expect((await stream.finalResponse()).output).toMatchObject([{ type: 'compaction' }]);
  });

  it('is refused for a body that is not a request', async () => {
    const wrong = here.responses.compact({ model: 'demo', input: 7 as never });
    expect(await refusal(wrong)).toMatchObject({ status: 400, param: 'input' });
  });
});
