import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { uninstall } from '#services/rtr/commands/uninstall/uninstall.ts';
import { takeLock } from '#shared/core/take-lock.mjs';
import { clientHome, signedInFiles } from '../../../helpers/rtr/client-home.ts';

const router = 'http://127.0.0.1:1';
const { tokensFile, lists } = signedInFiles(router);

let client: ReturnType<typeof clientHome>;
let folder: string;
let lines: string[];

beforeEach(() => {
  client = clientHome(lists);
  lines = [];
  for (const name of ['XDG_CONFIG_HOME', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME']) vi.stubEnv(name, client.home);
  vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', '');
  const tokens = { tokenEndpoint: `${router}/token`, revocationEndpoint: `${router}/revoke`, apis: {} };
  client.write(tokensFile, JSON.stringify({ ...tokens, router, accessToken: 'a', expiresAt: 0, refreshToken: 'b' }));
  client.write(
    'settings.json',
    JSON.stringify({ apiKeyHelper: `rtr token --router ${router}`, theme: 'dark' }, undefined, 2),
  );
  client.write('data/redis/dump.rdb', 'x'.repeat(2_000));
  folder = join(client.home, 'data');
});
afterEach(() => void vi.unstubAllEnvs());

/** Runs the command on a terminal at which the user types an answer, or without a terminal. */
function run({ keepsData = false, answer }: { keepsData?: boolean; answer?: string | undefined }) {
  const input = Object.assign(new PassThrough(), { isTTY: answer !== undefined });
  if (answer !== undefined) input.end(`${answer}\n`);
  const common = {
    folder,
    keepsData,
    input,
    output: new PassThrough(),
    print: (line: string) => void lines.push(line),
  };
  return {
    asking: () => uninstall({ ...common, isConfirmed: false }),
    sure: () => uninstall({ ...common, isConfirmed: true }),
  };
}

const path = (name: string) => join(client.home, name);
const remaining = () => ['data', 'rtr', 'settings.json'].filter((name) => existsSync(path(name)));

describe('rtr uninstall', () => {
  it('says what goes, and removes it after the word is typed: settings, sign-ins, data', async () => {
    await run({ answer: 'uninstall' }).asking();
    expect(lines[0]).toContain(`${path('settings.json')}; everything else in it stays`);
    expect(lines[0]).toContain(`the sign-in to ${router}`);
    expect(lines[0]).toContain(`${folder} (2 KiB): accounts, keys, limits and usage`);
    expect(remaining()).toEqual(['settings.json']);
    expect(JSON.parse(readFileSync(path('settings.json'), 'utf8'))).toEqual({ theme: 'dark' });
  });

  it('removes nothing after another word, and without a terminal', async () => {
    await expect(run({ answer: 'yes' }).asking()).rejects.toThrow('Nothing is removed.');
    await expect(run({}).asking()).rejects.toThrow('add --yes, or run this in a terminal');
    expect(remaining()).toEqual(['data', 'rtr', 'settings.json']);
  });

  it('keeps the data if it is to, and asks nothing with --yes', async () => {
    await run({ keepsData: true }).sure();
    expect(lines.join('\n')).not.toContain('accounts, keys');
    expect(remaining()).toEqual(['data', 'settings.json']);
    expect(lines).toContain(`Done. ${folder} is kept.`);
  });

  it('is refused while the cluster runs, and on a machine that has joined a router', async () => {
    const lock = takeLock(join(folder, 'up.lock'));
    await expect(run({}).sure()).rejects.toThrow(
      `The cluster in ${folder} runs (process ${process.pid}). Stop it first`,
    );
    if ('release' in lock) lock.release();
    client.write('data/box/box.json', '{}');
    await expect(run({}).sure()).rejects.toThrow('Leave it first: rtr leave');
    expect(remaining()).toEqual(['data', 'rtr', 'settings.json']);
  });

  it('says so if there is nothing', async () => {
    await run({}).sure();
    lines.length = 0;
    await run({}).sure();
    expect(lines[0]).toBe('There is nothing to remove.');
  });
});
