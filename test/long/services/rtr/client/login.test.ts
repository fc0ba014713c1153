import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installPackedClient, type PackedClient } from '../../../../helpers/clients/packed-client.ts';
import { startCluster, type Cluster } from '../../../../helpers/cluster/start-cluster.ts';
import { ConsoleClient } from '../../../../helpers/console/console-client.ts';
import { firstAdministrator } from '../../../../helpers/console/first-administrator.ts';

let cluster: Cluster;
let ada: ConsoleClient;
let client: PackedClient;

beforeAll(async () => {
  cluster = await startCluster();
  ({ client: ada } = await firstAdministrator(cluster));
  client = await installPackedClient();
});
afterAll(async () => {
  client.remove();
  await cluster.stop();
});

it('takes the base URL of an SDK, and the other commands do too', async () => {
  for (const [entered, router] of [
    [`${cluster.url}/api/openai/v1`, `${cluster.url}/api/openai`],
    [`${cluster.url}/console/`, cluster.url],
  ] as const) {
    const command = await client.signIn(entered, ada);
    expect(command.out).toContain(`You are signed in to ${router} as ada@example.com.`);
    const token = await client.print(['token', '--router', entered]);
    expect(token).toBe(await client.print(['token', '--router', router]));
    expect(await client.print(['env', 'openai', '--router', entered])).toContain(`--router ${router})`);
    expect(await client.print(['logout', '--router', entered])).toBe(`You are signed out of ${router}.\n`);
  }
});

it('keeps a sign-in apart from that at an address above it', async () => {
  await client.signIn(cluster.url, ada);
  const command = client.run(['token', '--router', `${cluster.url}/api/anthropic`]);
  expect([await command.ended, command.out]).toEqual([0, await client.print(['token'])]);
  const { accessToken } = client.tokens();
  await client.signIn(`${cluster.url}/api/anthropic`, ada);
  expect(await client.print(['token', '--router', cluster.url])).toBe(`${String(accessToken)}\n`);
  expect(await client.print(['logout'])).toBe(`You are signed out of ${cluster.url}/api/anthropic.\n`);
  expect(await client.print(['logout'])).toBe(`You are signed out of ${cluster.url}.\n`);
});

it('replaces damaged files', async () => {
  await client.signIn(cluster.url, ada);
  const index = join(dirname(client.tokenPath()), 'routers.json');
  const whole = readFileSync(index, 'utf8');
  for (const [file, text] of [
    [client.tokenPath(), '{"router": "http'],
    [index, ''],
    [index, '{"routers": []}'],
  ] as const) {
    writeFileSync(file, text);
    const command = client.run(['token']);
    expect([await command.ended, command.err]).toEqual([1, expect.stringContaining(`${file} is damaged.`)]);
    await client.signIn(cluster.url, ada);
    expect(readFileSync(index, 'utf8')).toBe(whole);
    expect(await client.print(['token'])).toBe(`${String(client.tokens()['accessToken'])}\n`);
  }
});
