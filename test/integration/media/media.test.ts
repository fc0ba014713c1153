import { inflateSync } from 'node:zlib';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { until } from '../../helpers/until.ts';

/*
 * A model that draws, one that speaks and one that writes, on one demo engine behind a real ingress and a real worker.
 */

const registry = `
prices:
  painter: { input: 0, output: 0, image: 0.04 }
  speaker: { input: 0, output: 0, characters: 15 }
`;

let cluster: Cluster;
beforeAll(async () => {
  const engine = {
    DEMO_MODELS: 'painter,speaker,writer',
    DEMO_OPERATIONS: 'painter=draw speaker=speak writer=generate',
  };
  cluster = await startCluster({ engine, ingress: withRegistry(registry) });
});
afterAll(() => cluster.stop());

const openai = (apiKey = cluster.key) => new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey, maxRetries: 0 });

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${cluster.url}/api/openai${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

async function recorded(id: string, expected: object): Promise<void> {
  await until(async () => {
    const record = (await readUsage(cluster.prefix)).find((each) => each.id === id);
    expect(record).toMatchObject(expected);
  });
}

describe('pictures, by the official SDK', () => {
  it('are as many as asked for, each a PNG', async () => {
    const { created, data = [] } = await openai().images.generate({ model: 'painter', prompt: 'A cat', n: 3 });
    expect(created).toBeGreaterThan(1_700_000_000);
    const pictures = data.map(({ b64_json: coded = '' }) => Buffer.from(coded, 'base64'));
    expect(pictures).toHaveLength(3);
    expect(new Set(pictures.map((picture) => picture.toString('hex'))).size).toBe(3);
    for (const picture of pictures) {
      expect(picture.subarray(1, 4).toString()).toBe('PNG');
      const length = picture.readUInt32BE(33);
      expect(inflateSync(picture.subarray(41, 41 + length))).toHaveLength(64 * (1 + 3 * 64));
    }
  });

  it('are drawn by any model that draws where none is named', async () => {
    const answer = await post('/images/generations', { prompt: 'A dog' });
    expect(await answer.json()).toMatchObject({ data: [{ b64_json: expect.any(String) as string }] });
  });

  it('are billed one by one', async () => {
    const answer = await post(
      '/images/generations',
      { model: 'painter', prompt: 'A cat', n: 2 },
      { 'x-request-id': 'drawn' },
    );
    expect(answer.status).toBe(200);
    await recorded('drawn', { operation: 'draw', outcome: 'done', images: 2, cost: 80_000_000 });
  });

  it('that are too many for a key are refused before they are drawn', async () => {
    const { raw } = await cluster.addKey({ limits: { tokensPerMinute: 1000 } });
    const many = openai(raw).images.generate({ model: 'painter', prompt: 'A cat', n: 2 });
    await expect(many).rejects.toMatchObject({ status: 400, code: 'request_exceeds_limit' });
  });
});

describe('speech, by the official SDK', () => {
  const input = 'Grüße aus Köln. 👋';

  it('is the sound of the engine, with its type', async () => {
    const answer = await openai().audio.speech.create({ model: 'speaker', voice: 'alloy', input });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/wav']);
    const sound = Buffer.from(await answer.arrayBuffer());
    expect(sound.subarray(0, 4).toString()).toBe('RIFF');
    expect((sound.length - 44) % 400).toBe(0);
    const direct = await fetch(`${cluster.engineUrl}/v1/audio/speech`, {
      method: 'POST',
      body: JSON.stringify({ model: 'speaker', input }),
    });
    expect(sound.equals(Buffer.from(await direct.arrayBuffer()))).toBe(true);
  });

  it('comes while it is spoken', async () => {
    const slow = { model: 'speaker', input: 'one two three four five six', demo: { tokens_per_second: 10 } };
    const begun = performance.now();
    const answer = await post('/audio/speech', slow);
    const arrivals: number[] = [];
    for await (const _ of answer.body ?? []) arrivals.push(performance.now() - begun);
    expect(arrivals.length).toBeGreaterThan(2);
    expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(200);
  });

  it('is billed by the characters that people count', async () => {
    const answer = await post('/audio/speech', { model: 'speaker', input }, { 'x-request-id': 'spoken' });
    await answer.arrayBuffer();
    await recorded('spoken', { operation: 'speak', outcome: 'done', characters: 17, cost: 255_000 });
  });

  it('that breaks off closes the connection, so that no one takes a part for the whole', async () => {
    const request = {
      model: 'speaker',
      input: 'one two three four five six',
      demo: { fault: 'drop', fault_after_tokens: 3 },
    };
    const answer = await post('/audio/speech', request, { 'x-request-id': 'broken' });
    expect(answer.status).toBe(200);
    await expect(answer.arrayBuffer()).rejects.toThrow();
    await recorded('broken', { operation: 'speak', outcome: 'failed' });
  });

  it('that does not begin is an error with its status', async () => {
    const answer = await post('/audio/speech', { model: 'speaker', input, demo: { fault: '500' } });
    expect([answer.status, await answer.json()]).toMatchObject([502, { error: { code: 'upstream_failed' } }]);
  });
});

describe('bad input', () => {
  it.each<[string, object, { param: string | null; code: string }]>([
    ['/images/generations', {}, { param: 'prompt', code: 'missing_required_parameter' }],
    ['/images/generations', { prompt: '' }, { param: 'prompt', code: 'invalid_type' }],
    ['/images/generations', { prompt: 'a', n: 11 }, { param: 'n', code: 'invalid_type' }],
    ['/images/generations', { prompt: 'a', stream: true }, { param: 'stream', code: 'unsupported_parameter' }],
    ['/audio/speech', { input: 'a' }, { param: 'model', code: 'missing_required_parameter' }],
    ['/audio/speech', { model: 'speaker' }, { param: 'input', code: 'missing_required_parameter' }],
    ['/audio/speech', { model: 'speaker', input: '' }, { param: 'input', code: 'invalid_type' }],
    ['/audio/speech', { model: 'speaker', input: 'a', speed: 9 }, { param: 'speed', code: 'invalid_type' }],
    [
      '/audio/speech',
      { model: 'speaker', input: 'a', stream_format: 'sse' },
      { param: 'stream_format', code: 'unsupported_parameter' },
    ],
    ['/audio/speech', { model: 'writer', input: 'a' }, { param: 'model', code: 'invalid_type' }],
    ['/images/generations', { model: 'writer', prompt: 'a' }, { param: 'model', code: 'invalid_type' }],
  ])('at %s, %j is refused with the field', async (path, body, expected) => {
    const answer = await post(path, body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error', ...expected } });
  });
});
