import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { startScriptedCluster, type ScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { runCommand } from '../../helpers/processes/run-command.ts';
import { adminCommandsOf } from '../../helpers/rtr/admin-commands.ts';

let cluster: ScriptedCluster;
beforeAll(async () => {
  cluster = await startScriptedCluster();
});
afterAll(() => cluster.stop());

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Runs `rtr` as a process, which knows the store unless the environment says otherwise. */
async function rtr(words: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  const env = { RTR_URL: cluster.url, RTR_PREFIX: cluster.prefix, REDIS_URL: inject('redisUrl'), ...environment };
  const command = runCommand(process.execPath, ['services/rtr/main.ts', ...words], { cwd: process.cwd(), env });
  return { code: await command.ended, out: command.out, err: command.err };
}

describe('a command of the Admin API', () => {
  it('prints to the standard output, and a failure as one sentence to the standard error', async () => {
    const made = await rtr(['users', 'create', 'ada@example.com', '--json']);
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(made.out)).toMatchObject({ email: 'ada@example.com', role: 'member' });
    expect(await rtr(['users', 'create', 'ada@example.com'])).toEqual({
      code: 1,
      out: '',
      err: 'email: An account with this e-mail address exists already.\n',
    });
    const wrong = await rtr(['limits', 'set', 'user:ada@example.com', 'fun=1']);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringMatching(/^fun is none of requests-per-minute, .*\n$/)]);
  });

  it('takes a token of the environment or of a file, and needs no store then', async () => {
    const { raw } = await adminCommandsOf(cluster).json('tokens', 'create', '--name', 'reader');
    const away = { REDIS_URL: 'redis://127.0.0.1:9' };
    const file = join(mkdtempSync(join(tmpdir(), 'rtr-token-')), 'token');
    writeFileSync(file, `${raw}\n`);
    for (const [words, environment] of [
      [[], { RTR_ADMIN_TOKEN: raw }],
      [[], { RTR_ADMIN_TOKEN_FILE: file }],
      [['--token-file', file], {}],
    ] as const) {
      const { code, out } = await rtr(['keys', 'list', '--json', ...words], { ...away, ...environment });
      expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ id: cluster.keyId, kind: 'router' })]);
    }
    const { code, err } = await rtr(['users', 'list'], away);
    expect([code, err]).toEqual([1, 'Redis does not answer at 127.0.0.1:9: is the cluster running?\n']);
  });

  it('prints a failure as JSON with --json, of its arguments too', async () => {
    const failing = async (...words: string[]): Promise<unknown> => {
      const { code, out, err } = await rtr([...words, '--json']);
      expect([code, out]).toEqual([1, '']);
      return JSON.parse(err);
    };
    expect(await failing('users', 'create', 'nobody')).toEqual({
      error: { code: 'invalid_request', message: expect.stringMatching(/^email: /), field: 'email' },
    });
    expect(await failing('users', 'show', '')).toEqual({
      error: { code: 'invalid_request', message: '"" is not the name or the id of anything. Nothing was sent.' },
    });
    expect(await failing('users', 'show', 'eve@example.com')).toMatchObject({ error: { code: 'not_found' } });
    expect(await failing('users', 'fly')).toEqual({
      error: { code: 'invalid_usage', message: expect.stringContaining("unknown command 'fly'") },
    });
    expect(await failing('keys', 'create')).toMatchObject({ error: { code: 'invalid_usage' } });
    expect(await failing('usage', 'report', '--from', '2030-02-31')).toMatchObject({
      error: { code: 'invalid_usage' },
    });
    expect(await failing('users', 'list', '--router', 'http://10.255.255.1')).toMatchObject({
      error: { code: 'unavailable' },
    });
  });

  it('is for a router of another machine only with a token of it, and sends it none otherwise', async () => {
    const asked: IncomingHttpHeaders[] = [];
    const other = createServer((request, response) => {
      asked.push(request.headers);
      response.end('{}');
    });
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const url = `http://localhost.example:${port}`;
    const keysBefore = await adminCommandsOf(cluster)('keys', 'list');
    for (const words of [
      ['users', 'list'],
      ['keys', 'create', '--name', 'here'],
      ['keys', 'list'],
      ['keys', 'revoke', cluster.keyId],
      ['webhooks', 'list'],
    ]) {
      for (const [named, environment] of [
        [['--router', url], {}],
        [[], { RTR_URL: url }],
      ] as const) {
        const { code, out, err } = await rtr([...words, ...named], environment);
        expect([code, out, err]).toEqual([1, '', expect.stringContaining(`admin token of the router at ${url}`)]);
      }
    }
    // Beside the router of this machine, whose store is that of the folder, there may be a way to another one.
    const near = `http://127.0.0.1:${port}`;
    expect(await rtr(['users', 'list', '--router', near], { REDIS_URL: '' })).toMatchObject({ code: 1, out: '' });
    // The settings of where this machine's router listens may be those of another program, or of another machine.
    const listens = { RTR_URL: '', PORT: `${port}` };
    for (const words of [
      ['users', 'list'],
      ['webhooks', 'list'],
    ]) {
      const { code, err } = await rtr(words, { ...listens, HOST: 'localhost.example' });
      expect([code, err]).toEqual([1, expect.stringContaining(`admin token of the router at ${url}`)]);
      const here = await rtr(words, { ...listens, HOST: '127.0.0.1', REDIS_URL: '' });
      expect(here).toMatchObject({ code: 1, out: '' });
    }
    expect(asked).toEqual([]);
    expect(await adminCommandsOf(cluster)('keys', 'list')).toEqual(keysBefore);
  });

  it('exits with 2 after a dry run that has found something to change', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'rtr-apply-')), 'access.yaml');
    writeFileSync(file, 'teams:\n  Lab:\n');
    expect((await rtr(['apply', '-f', file, '--dry-run'])).code).toBe(2);
    expect((await rtr(['apply', '-f', file])).code).toBe(0);
    expect((await rtr(['apply', '-f', file, '--dry-run'])).code).toBe(0);
  });

  it('lists everything, however many pages that takes', async () => {
    const { accounts } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    for (let at = 0; at < 510; at += 1) await accounts.teams.create(`team ${at}`);
    const lines = await adminCommandsOf(cluster)('teams', 'list', '--json');
    const names = new Set(lines.map((line) => (JSON.parse(line) as { name: string }).name));
    expect([lines.length, names.size]).toEqual([511, 511]);
  });
});
