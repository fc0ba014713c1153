import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { WriteWatch } from '#shared/store/redis/write-watch.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { startRedisProgram } from '../../../helpers/servers/start-redis-program.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';

/** Starts a server that cannot write its snapshot, because a folder has the file's name. */
async function openServer() {
  const folder = temporaryFolder();
  const settings = ['--save', '3600 1000000', '--dbfilename', 'taken.rdb'];
  const server = await startRedisProgram(folder, (port) => ['--port', String(port), ...settings]);
  // A server whose snapshot fails does not end in good order.
  onTestFinished(() => server.kill());
  const open = await openKeyStore(`redis://127.0.0.1:${server.port}`);
  // The server has looked for its snapshot by now.
  mkdirSync(join(folder, 'taken.rdb'));
  return open;
}

it.each<[string, (redis: Redis) => Promise<unknown>, (redis: Redis) => Promise<unknown>]>([
  [
    'its memory is full',
    (redis) => redis.config('SET', 'maxmemory', '1'),
    (redis) => redis.config('SET', 'maxmemory', '0'),
  ],
  ['its disk fails', (redis) => redis.bgsave(), (redis) => redis.config('SET', 'stop-writes-on-bgsave-error', 'no')],
  [
    'it lacks replicas',
    (redis) => redis.config('SET', 'min-replicas-to-write', '1'),
    (redis) => redis.config('SET', 'min-replicas-to-write', '0'),
  ],
  ['it is a replica', (redis) => redis.replicaof('127.0.0.1', '1'), (redis) => redis.replicaof('NO', 'ONE')],
])(
  'a Redis that refuses writes because %s does not count as well until it takes them again',
  async (_, refuse, mend) => {
    const { connection, redis, prefix, store } = await openServer();
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
    const watch = stopAfterTest(new WriteWatch(connection, prefix, log));
    await until(async () => (await watch.measureRoundTripMs()) !== undefined);
    const mending = redis.duplicate({ enableOfflineQueue: true, reconnectOnError: null });
    onTestFinished(() => mending.disconnect());
    await refuse(mending);
    await until(() => watch.areRefused);
    expect(await watch.measureRoundTripMs()).toBeUndefined();
    const refused = store.create({ kind: 'router', name: 'k', class: 'normal', limits: {} } as never);
    await expect(refused).rejects.toMatchObject({ code: 'store_unavailable', retryAfter: 2 });
    await mend(mending);
    await until(async () => (await watch.measureRoundTripMs()) !== undefined);
    expect(lines.filter((line) => line.includes('redis refuses writes'))).toHaveLength(1);
    expect(lines.join('')).toContain('redis takes writes again');
    // Nothing was written.
    expect(await redis.keys(`${prefix}*`)).toEqual([]);
  },
);
