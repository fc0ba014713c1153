import { expect, it } from 'vitest';
import { connectRedis } from '#shared/store/redis/connect-redis.ts';
import { isRedisAddress, listRedisHosts, buildRedisOptions } from '#shared/store/redis/redis-options.ts';
import { silentLog as log } from '../../../helpers/silent-log.ts';
import { makeCertificates } from '../../../helpers/servers/make-certificates.ts';
import { startRedisProgram } from '../../../helpers/servers/start-redis-program.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';

it('an address of Redis names host, port, user, password and database', () => {
  const options = { host: 'redis', port: 6380, username: 'joe', password: 's@cret', db: 2 };
  expect(buildRedisOptions('redis://joe:s%40cret@redis:6380/2', undefined)).toMatchObject(options);
});

it('an address of Redis names the sentinels that know the primary', () => {
  const url = 'redis+sentinel://:pw@one:26379,two/rtr/1?sentinel-password=sp';
  const sentinels = ['one', 'two'].map((host) => ({ host, port: 26_379 }));
  const options = { sentinels, name: 'rtr', password: 'pw', sentinelPassword: 'sp', db: 1 };
  expect(buildRedisOptions(url, undefined)).toMatchObject(options);
  expect(listRedisHosts(url)).toBe('one:26379,two');
});

const others = ['redis+sentinel://one', 'redis+sentinel:///name', 'redis+sentinel://one:x/name', 'sentinel://one/name'];
it.each(others)('an address of Redis is not %j', (url) => expect(isRedisAddress(url)).toBe(false));

it(
  'Redis behind TLS is trusted by whoever knows its authority, and by nobody else',
  { tags: ['openssl'] },
  async () => {
    const folder = temporaryFolder();
    const { ca, caFile, certFile, keyFile } = makeCertificates(folder);
    const files = `--tls-cert-file ${certFile} --tls-key-file ${keyFile} --tls-ca-cert-file ${caFile}`;
    const options = `${files} --tls-auth-clients no --requirepass pw`;
    const started = startRedisProgram(folder, (port) => `--port 0 --tls-port ${port} ${options}`.split(' '));
    const { port } = stopAfterTest(await started);
    const open = (authority: string | undefined) =>
      stopAfterTest(connectRedis(`rediss://:pw@127.0.0.1:${port}`, { log, name: 'test', ca: authority }));
    const trusting = open(ca);
    await trusting.whenReady(AbortSignal.timeout(30_000));
    await until(() => trusting.ready());
    const strict = open(undefined);
    const refused = new Promise<Error>((resolve) => strict.redis.once('error', resolve));
    expect(String(await refused)).toMatch(/certificate/);
    expect(await strict.ready()).toBe(false);
  },
);
