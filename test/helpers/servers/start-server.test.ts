import { connect } from '@nats-io/transport-node';
import { jetstreamManager } from '@nats-io/jetstream';
import { Redis } from 'ioredis';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { isPortFree } from '#services/rtr/up/servers/free-port.ts';
import { startServer } from './start-server.ts';
import type { ServerSource } from './test-server.ts';
import { until } from '../until.ts';

/** Where containers are available, the programs of this machine are tried as well: some machines have only these. */
const sources: ServerSource[] = inject('serverSource') === 'containers' ? ['containers', 'local'] : ['local'];

describe('the servers for tests', () => {
  it('answer in every test file', async () => {
    const nc = await connect({ servers: inject('natsUrl') });
    const redis = new Redis(inject('redisUrl'));
    expect(await redis.ping()).toBe('PONG');
    const manager = await jetstreamManager(nc);
    expect(await manager.getAccountInfo()).toMatchObject({ streams: expect.any(Number) });
    redis.disconnect();
    await nc.close();
  });
});

describe.each(sources)('servers for tests from %s', (source) => {
  it('give NATS back on the same port after a kill', async () => {
    const nats = await startServer('nats', source);
    onTestFinished(() => nats.stop());
    const nc = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 20 });
    onTestFinished(() => nc.close());
    await nats.kill();
    expect(await isPortFree(nats.port, '127.0.0.1')).toBe(true);
    await nats.restart();
    await until(async () => expect(await nc.rtt()).toBeGreaterThan(0), 5_000);
  });

  it('give Redis back with its data, or without when asked', async () => {
    const server = await startServer('redis', source);
    onTestFinished(() => server.stop());
    const redis = new Redis(server.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    // The connection breaks at each restart.
    redis.on('error', () => undefined);
    onTestFinished(() => redis.disconnect());
    await redis.set('word', 'kept');
    await server.restart();
    expect(await redis.get('word')).toBe('kept');
    await server.restart({ keepData: false });
    expect(await redis.get('word')).toBeNull();
  });

  it('are gone after stop', async () => {
    const nats = await startServer('nats', source);
    await nats.stop();
    expect(await isPortFree(nats.port, '127.0.0.1')).toBe(true);
    await nats.stop();
  });
});
