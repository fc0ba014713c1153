import { beforeEach, describe, expect, it } from 'vitest';
import type { EngineHttp } from '#services/gpu-worker/engine-http.ts';
import type { Engine } from '#services/gpu-worker/engines/engine.ts';
import { openai } from '#services/gpu-worker/engines/openai.ts';
import { findEngine } from '#services/gpu-worker/find-engine.ts';
import { EngineFollower, type EngineState } from '#services/gpu-worker/engine-follower.ts';
import { startModelServer, type ModelServer } from '../../helpers/upstreams/start-model-server.ts';
import { connectEngine } from '../../helpers/broker/run-job.ts';
import { serveInTest } from '../../helpers/servers/serve-http.ts';
import { silentLog as log } from '../../helpers/silent-log.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';

let server: ModelServer;
let http: EngineHttp;
let follower: EngineFollower;
let states: EngineState[];

beforeEach(async () => {
  server = stopAfterTest(await startModelServer(['one']));
  http = connectEngine(server);
  states = [];
  const found = await openai.discover(http, []);
  const onChange = (state: EngineState): unknown => states.push(state);
  const often = { healthEveryMs: 30, modelsEveryMs: 60 };
  follower = stopAfterTest(new EngineFollower({ http, engine: openai, log, discovery: found, onChange, ...often }));
});

describe('a followed engine', () => {
  it('is ill when it stops, and healthy again when it is back', async () => {
    await server.stop();
    await until(() => expect(states.at(-1)?.isHealthy).toBe(false));
    await server.start();
    await until(() => expect(states.at(-1)?.isHealthy).toBe(true));
    expect(states.map((state) => state.isHealthy)).toEqual([false, true]);
  });

  it('is ill while it answers 503', async () => {
    server.status = 503;
    await until(() => expect(follower.state.isHealthy).toBe(false));
    server.status = 200;
    await until(() => expect(follower.state.isHealthy).toBe(true));
  });

  it('is ill at once when a job cannot connect, until it answers again', async () => {
    follower.markUnreachable();
    expect(states.at(-1)?.isHealthy).toBe(false);
    await until(() => expect(states.at(-1)?.isHealthy).toBe(true));
  });

  it('reports changes of its models, and nothing else', async () => {
    await until(() => expect(server.asked).toBeGreaterThan(8));
    expect(states).toEqual([]);
    server.models = ['one', 'two'];
    await until(() => expect(states.at(-1)?.models.map(({ id }) => id)).toEqual(['one', 'two']));
    expect(states).toHaveLength(1);
  });

  it('has its new models when it is healthy again', async () => {
    await server.stop();
    await until(() => expect(follower.state.isHealthy).toBe(false));
    server.models = ['other'];
    await server.start();
    await until(() => expect(follower.state.isHealthy).toBe(true));
    expect(follower.state.models.map(({ id }) => id)).toEqual(['other']);
  });

  it('is not queried after close', async () => {
    await follower.close();
    const { asked } = server;
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(server.asked).toBe(asked);
  });
});

it('an engine that answers health checks, but not with its models, is ill', async () => {
  const engine: Engine = {
    ...openai,
    healthPath: '/health',
    discover: async (connection) => {
      await connection.get('/silent', 20);
      return { models: [] };
    },
  };
  const silent = connectEngine({
    url: await serveInTest((request, response) => {
      if (request.url === '/health') response.end();
    }),
  });
  const often = { healthEveryMs: 10, modelsEveryMs: 0 };
  const options = { http: silent, engine, log, discovery: { models: [] }, onChange: () => undefined, ...often };
  const silentFollower = stopAfterTest(new EngineFollower(options));
  await until(() => expect(silentFollower.state.isHealthy).toBe(false));
});

it('the search for an engine waits until the engine answers', async () => {
  await server.stop();
  const finding = findEngine({ http, kind: 'auto', log, signal: new AbortController().signal, retryMs: 20 });
  await server.start();
  expect(await finding).toMatchObject({ engine: { kind: 'openai' }, discovery: { models: [{ id: 'one' }] } });
});
