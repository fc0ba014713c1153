import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installPackedClient, type PackedClient } from '../../../../helpers/clients/packed-client.ts';
import { shareConsole } from '../../../../helpers/console/console-with-ada.ts';
import type { KnownPerson } from '../../../../helpers/console/open-as.ts';

const here = shareConsole();
let ada: KnownPerson;
let client: PackedClient;

beforeAll(async () => {
  ada = await here.invite('Ada');
  client = await installPackedClient();
});
afterAll(() => client.remove());

it('takes the base URL of an SDK, and the other commands do too', async () => {
  for (const [entered, router] of [
    [`${here.cluster.url}/api/openai/v1`, `${here.cluster.url}/api/openai`],
    [`${here.cluster.url}/console/`, here.cluster.url],
  ] as const) {
    const command = await client.signIn(entered, ada.client);
    expect(command.out).toContain(`You are signed in to ${router} as ${ada.email}.`);
    const token = await client.print(['token', '--router', entered]);
    expect(token).toBe(await client.print(['token', '--router', router]));
    expect(await client.print(['env', 'openai', '--router', entered])).toContain(`--router ${router})`);
    expect(await client.print(['logout', '--router', entered])).toBe(`You are signed out of ${router}.\n`);
  }
});

it('keeps a sign-in apart from that at an address above it', async () => {
  await client.signIn(here.cluster.url, ada.client);
  const command = client.run(['token', '--router', `${here.cluster.url}/api/anthropic`]);
  expect([await command.ended, command.out]).toEqual([0, await client.print(['token'])]);
  const { accessToken } = client.tokens();
  await client.signIn(`${here.cluster.url}/api/anthropic`, ada.client);
  expect(await client.print(['token', '--router', here.cluster.url])).toBe(`${String(accessToken)}\n`);
  expect(await client.print(['logout'])).toBe(`You are signed out of ${here.cluster.url}/api/anthropic.\n`);
  expect(await client.print(['logout'])).toBe(`You are signed out of ${here.cluster.url}.\n`);
});

it('replaces damaged files', async () => {
  await client.signIn(here.cluster.url, ada.client);
  const index = join(dirname(client.tokenPath()), 'routers.json');
  const whole = readFileSync(index, 'utf8');
  for (const [file, text] of [
    [client.tokenPath(), '{"router": "http'],
    [index, ''],
    [index, '{"routers": []}'],
  ] as const) {
    writeFileSync(file, text);
    expect(await client.fail(['token'])).toEqual([1, expect.stringContaining(`${file} is damaged.`)]);
    await client.signIn(here.cluster.url, ada.client);
    expect(readFileSync(index, 'utf8')).toBe(whole);
    expect(await client.print(['token'])).toBe(`${String(client.tokens()['accessToken'])}\n`);
  }
});
