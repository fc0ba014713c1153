// @module-tag keyring
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statusWith } from '../../../../helpers/clients/status-with.ts';
import { installPackedClient, type PackedClient } from '../../../../helpers/clients/packed-client.ts';
import { startKeyring } from '../../../../helpers/clients/start-keyring.ts';
import { shareConsole } from '../../../../helpers/console/console-with-ada.ts';
import type { KnownPerson } from '../../../../helpers/console/open-as.ts';
import { until } from '../../../../helpers/until.ts';
import { useStarted } from '../../../../helpers/use-started.ts';

describe('the client where there is a keyring', () => {
  const here = shareConsole();
  let ada: KnownPerson;
  let client: PackedClient;

  const keyring = useStarted(() => startKeyring());
  beforeAll(async () => {
    ada = await here.invite('Ada');
    client = await installPackedClient({ node: process.execPath, environment: keyring.environment });
  });
  afterAll(() => client.remove());

  /** The files that hold tokens. */
  const tokenFiles = (): string[] =>
    readdirSync(join(client.home, 'config/rtr')).filter((name) => name.endsWith('tokens.json'));

  it('keeps the tokens in it and in no file, and takes them out with the sign-out', async () => {
    await client.signIn(here.cluster.url, ada.client);
    const token = (await client.print(['token'])).trim();
    expect(await statusWith(here.cluster.url, token)).toBe(200);
    expect(tokenFiles()).toEqual([]);
    expect(keyring.secrets()).toEqual([expect.stringContaining(token)]);
    await client.print(['logout']);
    expect(keyring.secrets()).toEqual([]);
    expect(await statusWith(here.cluster.url, token)).toBe(401);
  });

  it('refreshes once for five programs that ask at once', async () => {
    await client.signIn(here.cluster.url, ada.client);
    const kept = (): Record<string, string> => JSON.parse(keyring.secrets()[0] ?? '') as Record<string, string>;
    const generation = (): number => Number(kept()['refreshToken']?.split('_')[3]);
    const before = generation();
    keyring.replace(here.cluster.url, JSON.stringify({ ...kept(), expiresAt: 0 }));
    const tokens = new Set<string>();
    // On a busy machine a keyring may take longer than the second that a program gives it.
    const ask = () => until(async () => void tokens.add(await client.print(['token'])));
    await Promise.all(Array.from({ length: 5 }, ask));
    expect(tokens.size).toBe(1);
    expect(generation()).toBe(before + 1);
    expect(tokenFiles()).toEqual([]);
  });

  it('takes tokens out of it with the sign-out, also when a later sign-in could not reach it', async () => {
    await client.signIn(here.cluster.url, ada.client);
    await client.signIn(here.cluster.url, ada.client, { DBUS_SESSION_BUS_ADDRESS: '' });
    expect(tokenFiles()).toHaveLength(1);
    expect(keyring.secrets()).toHaveLength(1);
    await client.print(['logout']);
    expect(tokenFiles()).toEqual([]);
    expect(keyring.secrets()).toEqual([]);
    await client.signIn(here.cluster.url, ada.client);
  });

  it('says that the keyring cannot be read when it is locked, within seconds', async () => {
    keyring.lock();
    const startedAt = performance.now();
    expect(await client.fail(['token'])).toEqual([1, expect.stringContaining('keyring')]);
    // A question to the person would wait for an answer.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });

  it('keeps the tokens of a new sign-in in a file that only the person can read when the keyring is gone', async () => {
    await keyring.end();
    await client.signIn(here.cluster.url, ada.client);
    expect(tokenFiles()).toHaveLength(1);
    expect(await statusWith(here.cluster.url, await client.print(['token']))).toBe(200);
  });
});
