import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { RateLimitError } from 'openai';
import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import { until } from '../../helpers/until.ts';
import { chunk, startScriptedEngine } from '../../helpers/upstreams/start-scripted-engine.ts';
import { watchWorkers } from '../../helpers/broker/watch-workers.ts';
import { useStarted } from '../../helpers/use-started.ts';

const answerWell =
  (headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    response.end(`${chunk({ content: 'hi' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
  };
const refuse = (status: number, headers: Record<string, string>) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end('{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}');
};

/** What the provider answers next; at first, that it has no list of models. */
let answer = refuse(404, {});

const provider = useStarted(() => startScriptedEngine((response) => answer(response)));
const cluster = useCluster({ workers: 0, engineUrl: 'http://127.0.0.1:9' });
const watch = useStarted(() => watchWorkers(inject('natsUrl'), cluster.prefix));
beforeAll(async () => {
  await cluster.addCloudWorker({
    PROVIDER: 'custom',
    PROVIDER_URL: `${provider.url}/v1`,
    PROVIDER_MODELS: 'big,small',
    WORKER_ID: 'paced',
    SLOTS: '8',
  });
  await until(() => watch.heartbeat('paced') !== undefined);
});

const openai = () => new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
const ask = { model: 'big', stream: true as const, messages: [{ role: 'user' as const, content: 'Hello' }] };

async function read(signal?: AbortSignal): Promise<string> {
  const stream = await openai().chat.completions.create(ask, { ...(signal && { signal }) });
  let text = '';
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  return text;
}

describe('a cloud worker', () => {
  it('gets no requests for as long as a 429 says, which the client is answered, and serves again', async () => {
    // Long enough for the pause to be announced meanwhile, here and below.
    answer = refuse(429, { 'retry-after': '5' });
    const refused: unknown = await read().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RateLimitError);
    expect((refused as RateLimitError).headers?.get('retry-after')).toBe('5');
    await until(() => watch.heartbeat('paced')?.accepting === false);
    const pausedAt = performance.now();
    answer = answerWell();
    expect(await read()).toBe('hi');
    expect(performance.now() - pausedAt).toBeGreaterThan(1_000);
    await until(() => expect(watch.heartbeat('paced')).toMatchObject({ accepting: true, slots: 8 }));
  });

  it('treats an overloaded provider the same way, in the words of the other format', async () => {
    answer = refuse(529, { 'retry-after': '4' });
    const client = new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0 });
    await expect(
      client.messages.create({ model: 'small', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }),
    ).rejects.toMatchObject({ status: 529, type: 'overloaded_error' });
    await until(() => watch.heartbeat('paced')?.accepting === false);
    await until(() => watch.heartbeat('paced')?.accepting === true);
  });

  it('takes fewer jobs at once while little of a limit is left, until it begins anew', async () => {
    answer = answerWell({
      'x-ratelimit-limit-requests': '100',
      'x-ratelimit-remaining-requests': '3',
      'x-ratelimit-reset-requests': '5s',
    });
    expect(await read()).toBe('hi');
    await until(() => watch.heartbeat('paced')?.slots === 2);
    await until(() => watch.heartbeat('paced')?.slots === 8);
  });

  it.each([true, false])('frees the provider when its client leaves (stream: %s)', async (stream) => {
    const before = provider.abandoned;
    let asked = false;
    answer = (response) => {
      asked = true;
      response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
      if (stream) response.write(chunk({ content: 'hi' }));
    };
    const client = new AbortController();
    const reading = openai()
      .chat.completions.create({ ...ask, stream }, { signal: client.signal })
      .then(async (given) => {
        if (Symbol.asyncIterator in given) for await (const _ of given) continue;
      })
      .catch((error: unknown) => error);
    await until(() => asked);
    client.abort();
    // Without a word to it, the request would last for minutes.
    await until(() => expect(provider.abandoned).toBe(before + 1), 10_000);
    await reading;
  });
});
