// @module-tag docker
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { testImage } from '../helpers/compose/build-image.ts';
import { count, crash, whileTrafficRuns } from '../helpers/compose/break-things.ts';
import { ComposeProject, type ComposeOptions } from '../helpers/compose/compose-project.ts';
import { docker } from '../helpers/compose/run-command.ts';
import { report } from '../helpers/compose/report.ts';
import { statusWith } from '../helpers/clients/status-with.ts';
import { until } from '../helpers/until.ts';

const env = { RTR_IMAGE: testImage };
let options: ComposeOptions;
let compose: ComposeProject;
let where: { url: string; key: string };

beforeAll(async () => {
  const name = `rtr-test-ha-${randomBytes(4).toString('hex')}`;
  options = { name, port: await findFreePort(), profiles: ['ha'], env };
  compose = new ComposeProject(options);
  await compose.up('--scale', 'worker-gpu=2');
  where = { url: compose.url, key: await compose.key() };
});
afterAll(async () => {
  await compose.down();
  expect(await compose.leftovers()).toEqual([]);
});

/** The current role of a redis node: `master` or `slave`. */
async function roleOf(node: string): Promise<string> {
  const ask = 'REDISCLI_AUTH=$(cat /config/password) redis-cli role | head -n 1';
  return (await docker('exec', await compose.container(node), 'sh', '-c', ask)).trim();
}

/** NATS' report on its streams. Alpine has wget, Debian has bash. */
async function streams(): Promise<string> {
  const path = '/jsz?accounts=true&streams=true&config=true';
  const ask = `exec 3<>/dev/tcp/127.0.0.1/8222; printf 'GET ${path} HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`;
  const shell = `if command -v wget >/dev/null; then wget -qO- 'http://127.0.0.1:8222${path}'; else exec bash -c "$0"; fi`;
  return docker('exec', await compose.container('nats'), 'sh', '-c', shell, ask);
}

async function makeKey(name: string): Promise<string> {
  const printed = await compose.run('exec', '-T', 'ingress', 'rtr', 'keys', 'create', '--name', name);
  const key = /rtr_\w+_\w+/.exec(printed)?.[0];
  if (key === undefined) throw new Error(`no key in: ${printed}`);
  return key;
}

it('with the profile ha three NATS nodes replicate the queue', async () => {
  await until(async () => expect(await streams()).toMatch(/"num_replicas": ?3/));
});

it('with the profile ha no answer is silently wrong when the NATS node that leads the queue is killed', async () => {
  const leader = /"num_replicas": ?3[^]*?"leader": ?"(nats[-\d]*)"/.exec(await streams())?.[1] ?? '';
  await whileTrafficRuns(`${leader} of three killed`, where, async () => crash(await compose.container(leader), 4_000));
});

it('with the profile ha the replica takes over when the Redis primary is killed, with all keys, and the old one follows it', async () => {
  const before = await makeKey('before');
  const primary = await compose.container('redis');
  const outcomes = await whileTrafficRuns('the Redis primary killed', where, async () => {
    await docker('kill', primary);
    const began = performance.now();
    await until(async () => expect(await roleOf('redis-2')).toBe('master'));
    await until(async () => expect(await statusWith(where.url, before)).toBe(200));
    report(`the Redis replica took over after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  });
  expect(count(outcomes, 'failed', 'refused', 'cut')).toBe(0);
  const after = await makeKey('after');
  expect(await statusWith(where.url, after)).toBe(200);
  await docker('start', primary);
  await until(async () => expect(await roleOf('redis')).toBe('slave'));
  expect(await statusWith(where.url, after)).toBe(200);
});

it('with the profile ha continues when a sentinel is killed', async () => {
  const outcomes = await whileTrafficRuns('a sentinel killed', where, async () => {
    await crash(await compose.container('sentinel-1'), 2_000);
    await sleep(1_000);
  });
  expect(count(outcomes, 'failed', 'refused', 'cut')).toBe(0);
});

it('with the profile ha accepts a new Redis password, also after the sentinels chose another primary', async () => {
  const key = await makeKey('of the time before');
  compose = new ComposeProject({ ...options, env: { ...env, REDIS_PASSWORD: 'an0ther/p@ss#w%rd' } });
  await compose.up('--force-recreate');
  expect(await statusWith(where.url, key)).toBe(200);
  expect([await roleOf('redis'), await roleOf('redis-2')]).toEqual(['slave', 'master']);
});
