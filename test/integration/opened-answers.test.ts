import { request } from 'node:http';
import OpenAI7 from 'openai';
import OpenAI6 from 'openai-6';
import { describe, expect, it } from 'vitest';
import { get, post } from '../helpers/clients/keyed-requests.ts';
import { commonIngress } from '../helpers/cluster/common-ingress.ts';
import { withScripted } from '../helpers/cluster/start-scripted-cluster.ts';
import { shareCluster, useCluster } from '../helpers/cluster/share-cluster.ts';
import { responseEvents, type ResponseEvent } from '../shared/translate/responses/assemble-response.ts';

const cluster = useCluster({ ingress: commonIngress() });

function ask(fields: object, { key = cluster.key, url = cluster.url, headers = {} } = {}): Promise<Response> {
  const body = { model: 'demo', stream: true, store: false, ...fields };
  return post({ url, key, path: '/openai/responses', body, headers });
}

async function eventsOf(answer: Response): Promise<ResponseEvent[]> {
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  const events = responseEvents(await answer.text());
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
  const ids = events.flatMap(({ response }) => (response as { id?: string } | undefined)?.id ?? []);
  expect(new Set(ids).size).toBe(1);
  return events;
}

const typesOf = (events: readonly ResponseEvent[]) => events.map(({ type }) => type.replace('response.', ''));

describe('a Responses stream', () => {
  it('is opened by a keep-alive before its worker begins, and goes on with the same id', async () => {
    const events = await eventsOf(await ask({ input: 'Hi!\n[demo delay=3000 tokens=3]', metadata: { a: 'b' } }));
    expect(typesOf(events).slice(0, 3)).toEqual(['created', 'in_progress', 'in_progress']);
    expect(typesOf(events).filter((type) => type === 'created')).toHaveLength(1);
    expect(events[0]?.['response']).toMatchObject({ status: 'in_progress', metadata: { a: 'b' }, output: [] });
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { model: 'demo' } });
  });

  it.each([
    ['current', OpenAI7],
    ['Node 20', OpenAI6 as unknown as typeof OpenAI7],
  ])('with keep-alives before and within it is assembled correctly by the SDK (%s)', async (_, Client) => {
    const client = new Client({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
    const input = 'Hi!\n[demo delay=3000 tokens=4 rate=1]';
    const runner = client.responses.stream({ model: 'demo', input, store: false });
    const types: string[] = [];
    for await (const event of runner) types.push(event.type);
    const within = types.slice(types.indexOf('response.output_text.delta'));
    expect(types.slice(0, 3)).toEqual(['response.created', 'response.in_progress', 'response.in_progress']);
    expect(within).toContain('keepalive');
    const final = await runner.finalResponse();
    expect(final.status).toBe('completed');
    expect(final.usage?.output_tokens).toBe(4);
  });

  it('that fails before its first byte fails in its stream, because a client would retry on a status', async () => {
    // Without keep-alives, which would be further events.
    const { url } = await shareCluster();
    const failed = await eventsOf(await ask({ input: 'Hi!\n[demo fault=500]' }, { url }));
    expect(typesOf(failed)).toEqual(['created', 'in_progress', 'failed']);
    expect(failed.at(-1)).toMatchObject({ response: { status: 'failed', error: { code: 'server_error' } } });
    const whole = await ask({ input: 'Hi!\n[demo fault=500]', stream: false });
    expect(whole.status).toBe(502);
  });

  it('that breaks midway ends with a failed response behind its last whole event', async () => {
    const events = await eventsOf(await ask({ input: 'Hi!\n[demo fault=drop after=6 rate=100]' }));
    expect(typesOf(events).filter((type) => type === 'output_text.delta').length).toBeGreaterThan(0);
    const failed = { status: 'failed', error: { code: 'server_error' } };
    expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: failed });
  });

  it('is refused with a status that tells the client how to proceed', async () => {
    const { raw: limited } = await cluster.addKey({ limits: { requestsPerMinute: 1 } });
    expect((await ask({ input: 'Hi!' }, { key: limited })).status).toBe(200);
    const again = await ask({ input: 'Hi!' }, { key: limited });
    expect([again.status, again.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect((await ask({ input: 'Hi!', model: 'nobody-has-it' })).status).toBe(404);
    expect((await ask({ input: 7 })).status).toBe(400);
    expect((await ask({ input: 'Hi!' }, { key: 'wrong' })).status).toBe(401);
  });
});

describe("the models of OpenAI's API", () => {
  it('are listed twice for Codex, with what it needs of each', async () => {
    const list = async (query: string) => {
      const answer = await get(cluster, `/openai/models${query}`);
      return (await answer.json()) as { data: { id: string }[]; models?: Record<string, unknown>[] };
    };
    const { data, models } = await list('?client_version=0.169.0');
    expect(models?.map(({ slug }) => slug)).toEqual(data.map(({ id }) => id));
    expect(models?.[0]).toMatchObject({ slug: 'auto', display_name: 'auto', base_instructions: expect.any(String) });
    expect((await list('')).models).toBeUndefined();
  });
});

describe('a WebSocket', () => {
  /** Requests an upgrade on a connection that is kept, then another path. */
  function upgrade(path: string): Promise<{ status: number | undefined; kept: boolean }> {
    return new Promise((resolve, reject) => {
      const socket = { 'sec-websocket-version': '13', 'sec-websocket-key': 'CRC6vBixXlBWhTK7Oa88BQ==' };
      const upgraded = { connection: 'Upgrade', upgrade: 'websocket', ...socket };
      const headers = { ...upgraded, authorization: `Bearer ${cluster.key}` };
      const asked = request(cluster.url + path, { headers }, (answer) => {
        answer.resume();
        answer.on('end', () => resolve({ status: answer.statusCode, kept: !asked.socket?.destroyed }));
      });
      asked.on('upgrade', () => reject(new Error('it was upgraded')));
      asked.on('error', reject);
      asked.end();
    });
  }

  it.each(['/api/openai/v1/responses', '/api/openai/responses', '/nothing/here'])(
    'is refused at once with 426 at %s, and the connection stays in use',
    async (path) => {
      expect(await upgrade(path)).toEqual({ status: 426, kept: true });
    },
  );
});

describe('a Responses stream without a worker', () => {
  it('waits inside its stream, and fails there with a code on which clients do not retry', async () => {
    const worker = await withScripted(cluster).addScripted({ models: [{ id: 'gone', capabilities: ['stream'] }] });
    await worker.drain(0);
    await worker.close();
    const headers = { 'x-rtr-max-wait': '4' };
    const events = await eventsOf(await ask({ model: 'gone', input: 'Hi!' }, { headers }));
    expect(typesOf(events).slice(0, 3)).toEqual(['created', 'in_progress', 'in_progress']);
    const failed = { error: { code: 'server_is_overloaded' } };
    expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: failed });
  });
});
