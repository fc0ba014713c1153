import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackedClient, type PackedClient } from '../../../../helpers/clients/packed-client.ts';
import { hasKeyring, startKeyring, type TestKeyring } from '../../../../helpers/clients/start-keyring.ts';
import { startCluster, type Cluster } from '../../../../helpers/cluster/start-cluster.ts';
import { ConsoleClient } from '../../../../helpers/console/console-client.ts';
import { firstAdministrator } from '../../../../helpers/console/first-administrator.ts';

describe.skipIf(!hasKeyring)('the client where there is a keyring (get-keyring.sh installs one)', () => {
  let cluster: Cluster;
  let ada: ConsoleClient;
  let keyring: TestKeyring;
  let client: PackedClient;

  beforeAll(async () => {
    keyring = await startKeyring();
    cluster = await startCluster();
    ({ client: ada } = await firstAdministrator(cluster));
    client = await installPackedClient({ node: process.execPath, environment: keyring.environment });
  });
  afterAll(async () => {
    client.remove();
    await cluster.stop();
    await keyring.stop();
  });

  /** The files that hold tokens. */
  const tokenFiles = (): string[] =>
    readdirSync(join(client.home, 'config/rtr')).filter((name) => name.endsWith('tokens.json'));

  async function statusWith(token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token.trim()}` };
    return (await fetch(`${cluster.url}/api/openai/v1/models`, { headers })).status;
  }

  it('keeps the tokens in it and in no file, and takes them out with the sign-out', async () => {
    await client.signIn(cluster.url, ada);
    const token = (await client.print(['token'])).trim();
    expect(await statusWith(token)).toBe(200);
    expect(tokenFiles()).toEqual([]);
    expect(keyring.secrets()).toEqual([expect.stringContaining(token)]);
    await client.print(['logout']);
    expect(keyring.secrets()).toEqual([]);
    expect(await statusWith(token)).toBe(401);
  });

  it('refreshes once for ten programs that ask at once', async () => {
    await client.signIn(cluster.url, ada);
    const kept = (): Record<string, string> => JSON.parse(keyring.secrets()[0] ?? '') as Record<string, string>;
    const generation = (): number => Number(kept()['refreshToken']?.split('_')[3]);
    const before = generation();
    keyring.replace(cluster.url, JSON.stringify({ ...kept(), expiresAt: 0 }));
    const tokens = await Promise.all(Array.from({ length: 10 }, () => client.print(['token'])));
    expect(new Set(tokens).size).toBe(1);
    expect(generation()).toBe(before + 1);
    expect(tokenFiles()).toEqual([]);
  });

  it('takes tokens out of it with the sign-out, also when a later sign-in could not reach it', async () => {
    await client.signIn(cluster.url, ada);
    await client.signIn(cluster.url, ada, { DBUS_SESSION_BUS_ADDRESS: '' });
    expect(tokenFiles()).toHaveLength(1);
    expect(keyring.secrets()).toHaveLength(1);
    await client.print(['logout']);
    expect(tokenFiles()).toEqual([]);
    expect(keyring.secrets()).toEqual([]);
    await client.signIn(cluster.url, ada);
  });

  it('says that the keyring cannot be read when it is locked, within seconds', async () => {
    keyring.lock();
    const startedAt = performance.now();
    const command = client.run(['token']);
    expect(await command.ended).toBe(1);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(command.err).toContain('keyring');
  });

  it('keeps the tokens of a new sign-in in a file that only the person can read when the keyring is gone', async () => {
    await keyring.end();
    await client.signIn(cluster.url, ada);
    expect(tokenFiles()).toHaveLength(1);
    expect(await statusWith(await client.print(['token']))).toBe(200);
  });
});
