import { once } from 'node:events';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import { ShortOutages } from '#shared/store/redis/short-outages.ts';
import { RouterError } from '#shared/core/errors.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import { least } from '../../../helpers/least.ts';
import { openThroughProxy } from '../../../helpers/accounts/open-through-proxy.ts';
import { beginKeyStore, openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { startRedis } from '../../../helpers/servers/start-redis.ts';
import { until } from '../../../helpers/until.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const server = useStarted(() => startRedis());

/** Returns the milliseconds that a refused command takes. */
async function timeOfRefusal(store: KeyStore): Promise<number> {
  const asked = performance.now();
  await expect(store.list()).rejects.toMatchObject({ code: 'store_unavailable', retryAfter: 2 });
  return performance.now() - asked;
}

describe('connectRedis', () => {
  it.each(['http://x', 'foo', 'redis://', ''])('refuses %j, which is no address of Redis', (url) => {
    const expected = new ConfigError('the address of Redis is not a URL like redis://127.0.0.1:6379');
    expect(() => beginKeyStore(url)).toThrow(expected);
  });

  it('fails commands at once while Redis is away, logs that once in a while, and works again when it is back', async () => {
    const { connection, store, logLines } = await openKeyStore(server.url);
    let failures = 0;
    connection.redis.on('error', () => failures++);
    await until(() => connection.ready());
    await server.kill();
    await until(() => connection.redis.status !== 'ready');
    expect(await connection.ready()).toBe(false);
    expect(await least(() => timeOfRefusal(store), 900)).toBeLessThan(900);
    await until(() => failures >= 3);
    expect(logLines.filter((line) => line.includes('redis is away'))).toHaveLength(1);
    await server.restart();
    await until(async () => expect(await store.list()).toEqual([]));
    expect(logLines.join('')).toContain('redis is back');
  });

  it('connects again when the library gives up by itself, and stays closed once it is closed', async () => {
    const { connection } = await openKeyStore(server.url);
    const end = once(connection.redis, 'end');
    connection.redis.disconnect();
    await end;
    await connection.whenReady(AbortSignal.timeout(30_000));
    await until(() => connection.ready());
    connection.close();
    await until(() => expect(connection.redis.status).toBe('end'));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(connection.redis.status).toBe('end');
  });

  it('gives up on a Redis that is silent after a second, and then does not wait for it again', async () => {
    const { proxy, behind } = await openThroughProxy(false);
    proxy.pause();
    // It is silent for as long as the test likes.
    expect(await timeOfRefusal(behind.store)).toBeLessThan(10_000);
    expect(await least(() => timeOfRefusal(behind.store), 900)).toBeLessThan(900);
    proxy.resume();
    await until(async () => expect(await behind.store.list()).toEqual([]));
  });

  it('connects anew to an address whose server has become a replica, and then keeps the connection for a while', async () => {
    const { connection, redis, store } = await openKeyStore(server.url);
    let losses = 0;
    redis.on('close', () => losses++);
    const write = () => redis.set('a', '1').catch(({ message }: Error) => message);
    await redis.replicaof('127.0.0.1', '1');
    expect(await write()).toMatch(/^READONLY/);
    await until(() => losses === 1);
    await connection.whenReady(AbortSignal.timeout(30_000));
    for (let round = 0; round < 5; round += 1) expect(await write()).toMatch(/^READONLY/);
    expect(await store.list()).toEqual([]);
    expect(losses).toBe(1);
    await redis.replicaof('NO', 'ONE');
  });

  it.each([
    ['after it has sent a command', () => setImmediate()],
    ['before its command is with the system', () => Promise.resolve()],
  ])('keeps a Redis that answers while this process stands still %s', async (_, passTurn) => {
    const { connection } = await openKeyStore(server.url, undefined, false);
    await until(() => connection.ready());
    let closed = 0;
    connection.redis.on('close', () => (closed += 1));
    const answers = Promise.all([connection.redis.ping(), connection.redis.pipeline().ping().exec()]);
    await passTurn();
    const end = performance.now() + 2_500;
    while (performance.now() < end);
    expect(await answers).toEqual(['PONG', [[null, 'PONG']]]);
    await sleep(1_000);
    expect([connection.redis.status, closed]).toEqual(['ready', 0]);
  });

  it('never logs the password, even when that is refused', async () => {
    const admin = await openKeyStore(server.url);
    await admin.connection.redis.config('SET', 'requirepass', 'the-right-one');
    const url = new URL(server.url);
    url.password = 'a-wrong-one';
    const { logLines, store } = beginKeyStore(url.href);
    await until(() => expect(logLines.join('')).toContain('WRONGPASS'));
    await expect(store.list()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(logLines.join('')).not.toContain('a-wrong-one');
    await admin.connection.redis.config('SET', 'requirepass', '');
  });

  it('stops waiting for Redis when the signal aborts', async () => {
    const { connection } = beginKeyStore('redis://127.0.0.1:1');
    await expect(connection.whenReady(AbortSignal.timeout(100))).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(connection.whenReady(AbortSignal.abort())).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

it('a request waits no longer for many short outages than for one', async () => {
  const { connection } = await openKeyStore();
  const outages = new ShortOutages(connection, 1_000);
  let asked = 0;
  const ask = async (): Promise<never> => {
    asked += 1;
    const lost = once(connection.redis, 'close');
    connection.redis.disconnect(true);
    await lost;
    throw new RouterError('store_unavailable', 'away');
  };
  const timeOfRequest = async (): Promise<number> => {
    const startedAt = performance.now();
    await expect(outages.retry(ask)).rejects.toMatchObject({ code: 'store_unavailable' });
    return performance.now() - startedAt;
  };
  expect(await least(timeOfRequest, 3_000)).toBeLessThan(3_000);
  expect(asked).toBeGreaterThan(2);
});

it('what fails for another reason than an outage is not repeated', async () => {
  const { connection } = await openKeyStore();
  const outages = new ShortOutages(connection, 1_000);
  let asked = 0;
  const ask = async (): Promise<never> => {
    asked += 1;
    throw new RouterError('store_unavailable', 'the store was emptied');
  };
  await expect(outages.retry(ask)).rejects.toMatchObject({ message: 'the store was emptied' });
  expect(asked).toBe(1);
  expect(outages.retry(() => 'at once')).toBe('at once');
});
