import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildPrograms } from '#services/rtr/build/build-programs.ts';
import { dockerAnswers } from './servers/docker-answers.ts';
import { startServer } from './servers/start-server.ts';
import type { ServerSource, TestServer } from './servers/test-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A NATS server with JetStream for all test files: use a prefix of your own. */
    natsUrl: string;
    /** A Redis server for all test files: use a prefix of your own. */
    redisUrl: string;
    /** Where `startNats` and `startRedis` get their servers. */
    serverSource: ServerSource;
  }
}

const root = join(import.meta.dirname, '..', '..');

/** Starts the servers for all test files, and decides once where servers come from. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildPrograms(root);
  const { source, servers } = await startShared();
  const [nats, redis] = servers;
  project.provide('serverSource', source);
  project.provide('natsUrl', nats.url);
  project.provide('redisUrl', redis.url);
  return async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
}

async function startShared(): Promise<{ source: ServerSource; servers: [TestServer, TestServer] }> {
  if (await dockerAnswers()) {
    try {
      return { source: 'containers', servers: await startContainers() };
    } catch (error) {
      console.warn(`Docker answers, but the containers did not start (${String(error)}): using local servers.`);
    }
  }
  return { source: 'local', servers: await startBoth('local') };
}

/** Starts containers. The library's own container, which clears up after a killed run, is left out if its image cannot be pulled. */
async function startContainers(): Promise<[TestServer, TestServer]> {
  try {
    return await startBoth('containers');
  } catch (error) {
    if (process.env['TESTCONTAINERS_RYUK_DISABLED'] === 'true') throw error;
    process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
    return startBoth('containers');
  }
}

async function startBoth(source: ServerSource): Promise<[TestServer, TestServer]> {
  const [nats, redis] = await Promise.allSettled([startServer('nats', source), startServer('redis', source)]);
  if (nats.status === 'fulfilled' && redis.status === 'fulfilled') return [nats.value, redis.value];
  for (const started of [nats, redis]) if (started.status === 'fulfilled') await started.value.stop();
  throw nats.status === 'rejected'
    ? nats.reason
    : redis.status === 'rejected'
      ? redis.reason
      : new Error('unreachable');
}
