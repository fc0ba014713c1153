import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { EngineHttp } from '#services/gpu-worker/engine-http.ts';
import { openai } from '#services/gpu-worker/engines/openai.ts';
import { findEngine } from '#services/gpu-worker/find-engine.ts';
import { EngineFollower, type EngineState } from '#services/gpu-worker/follow-engine.ts';
import { startModelServer, type ModelServer } from '../../helpers/upstreams/start-model-server.ts';
import { until } from '../../helpers/until.ts';

const log = pino({ level: 'silent' });

let server: ModelServer;
let http: EngineHttp;
let follower: EngineFollower;
let heard: EngineState[];

beforeEach(async () => {
  server = await startModelServer(['one']);
  http = new EngineHttp({ url: server.url, connections: 2, connectTimeoutMs: 500 });
  heard = [];
  const found = await openai.discover(http, []);
  const onChange = (state: EngineState): unknown => heard.push(state);
  follower = new EngineFollower({ http, engine: openai, log, found, onChange, healthEveryMs: 30, modelsEveryMs: 60 });
});

afterEach(async () => {
  await follower.close();
  await http.close();
  await server.stop();
});

describe('an engine that is followed', () => {
  it('is ill when it stops, and well again when it is back', async () => {
    await server.stop();
    await until(() => expect(heard.at(-1)?.healthy).toBe(false), 1_000);
    await server.start();
    await until(() => expect(heard.at(-1)?.healthy).toBe(true), 1_000);
    expect(heard.map((state) => state.healthy)).toEqual([false, true]);
  });

  it('is ill while it answers that it is loading', async () => {
    server.status = 503;
    await until(() => expect(follower.state.healthy).toBe(false), 1_000);
    server.status = 200;
    await until(() => expect(follower.state.healthy).toBe(true), 1_000);
  });

  it('is ill at once when a job found nobody, until it answers', async () => {
    follower.unreachable();
    expect(heard.at(-1)?.healthy).toBe(false);
    await until(() => expect(heard.at(-1)?.healthy).toBe(true), 1_000);
  });

  it('tells of new models, and says nothing while nothing changes', async () => {
    await until(() => expect(server.asked).toBeGreaterThan(8), 1_000);
    expect(heard).toEqual([]);
    server.models = ['one', 'two'];
    await until(() => expect(heard.at(-1)?.models.map(({ id }) => id)).toEqual(['one', 'two']), 1_000);
    expect(heard).toHaveLength(1);
  });

  it('comes back with the models it has then', async () => {
    await server.stop();
    await until(() => expect(follower.state.healthy).toBe(false), 1_000);
    server.models = ['other'];
    await server.start();
    await until(() => expect(follower.state.healthy).toBe(true), 1_000);
    expect(follower.state.models.map(({ id }) => id)).toEqual(['other']);
  });

  it('is not asked any more after the end', async () => {
    await follower.close();
    const { asked } = server;
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(server.asked).toBe(asked);
  });
});

describe('an engine that is looked for', () => {
  it('is waited for', async () => {
    await server.stop();
    const finding = findEngine({ http, kind: 'auto', log, signal: new AbortController().signal, retryMs: 20 });
    await server.start();
    expect(await finding).toMatchObject({ engine: { kind: 'openai' }, found: { models: [{ id: 'one' }] } });
  });

  it('is no longer waited for when the worker stops', async () => {
    await server.stop();
    const stopping = new AbortController();
    const finding = findEngine({ http, kind: 'auto', log, signal: stopping.signal, retryMs: 20 });
    stopping.abort();
    await expect(finding).rejects.toThrow();
  });
});
