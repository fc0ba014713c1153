import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ShortOutages } from '#shared/accounts/redis/short-outages.ts';
import { RouterError } from '#shared/core/errors.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import { beginKeyStore, openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { startRedis } from '../../../helpers/servers/start-redis.ts';
import { until } from '../../../helpers/until.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const server = useStarted(() => startRedis());

describe('connectRedis', () => {
  it.each(['http://x', 'foo', 'redis://', ''])('refuses %j, which is no address of Redis', (url) => {
    const expected = new ConfigError('the address of Redis is not a URL like redis://127.0.0.1:6379');
    expect(() => beginKeyStore(url)).toThrow(expected);
  });

  it('fails commands at once while Redis is away, logs that once in a while, and works again when it is back', async () => {
    const { connection, store, logLines } = await openKeyStore(server.url);
    let failures = 0;
    connection.redis.on('error', () => failures++);
    expect(await connection.ready()).toBe(true);
    await server.kill();
    await until(() => connection.redis.status !== 'ready');
    const asked = performance.now();
    expect(await connection.ready()).toBe(false);
    await expect(store.list()).rejects.toMatchObject({ code: 'store_unavailable', retryAfter: 2 });
    expect(performance.now() - asked).toBeLessThan(900);
    await until(() => failures >= 3);
    expect(logLines.filter((line) => line.includes('redis is away'))).toHaveLength(1);
    await server.restart();
    await connection.whenReady(AbortSignal.timeout(10_000));
    expect(await connection.ready()).toBe(true);
    expect(await store.list()).toEqual([]);
    expect(logLines.join('')).toContain('redis is back');
  });

  it('connects again when the library gives up by itself, and stays closed once it is closed', async () => {
    const { connection } = await openKeyStore(server.url);
    connection.redis.disconnect();
    await until(() => expect(connection.redis.status).toBe('end'));
    await connection.whenReady(AbortSignal.timeout(5_000));
    expect(await connection.ready()).toBe(true);
    connection.close();
    await until(() => expect(connection.redis.status).toBe('end'));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(connection.redis.status).toBe('end');
  });

  it('gives up on a Redis that is silent after a second, and then does not wait for it again', async () => {
    const { connection, store } = await openKeyStore(server.url);
    await connection.redis.call('CLIENT', 'PAUSE', '3500', 'ALL');
    const asked = performance.now();
    await expect(store.list()).rejects.toMatchObject({ code: 'store_unavailable' });
    // Less than the pause; and then less than the second that it waits for a Redis that may answer.
    expect(performance.now() - asked).toBeLessThan(2_400);
    const again = performance.now();
    await expect(store.list()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(performance.now() - again).toBeLessThan(900);
    await connection.whenReady(AbortSignal.timeout(10_000));
    expect(await store.list()).toEqual([]);
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

it('a request waits no longer for many short outages than for one', { timeout: 10_000 }, async () => {
  const { connection } = await openKeyStore();
  const outages = new ShortOutages(connection, 1_000);
  const startedAt = performance.now();
  let asked = 0;
  const ask = async (): Promise<never> => {
    asked += 1;
    const lost = once(connection.redis, 'close');
    connection.redis.disconnect(true);
    await lost;
    throw new RouterError('store_unavailable', 'away');
  };
  await expect(outages.retry(ask)).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(asked).toBeGreaterThan(2);
  expect(performance.now() - startedAt).toBeLessThan(3_000);
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
