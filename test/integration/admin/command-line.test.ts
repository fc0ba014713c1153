import type { IncomingHttpHeaders } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { toFailureObject } from '#services/rtr/commands/failure.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { adminCommandsOf } from '../../helpers/rtr/admin-commands.ts';
import { runRtr } from '../../helpers/rtr/run-rtr.ts';
import { serveInTest } from '../../helpers/servers/serve-http.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { temporaryFolder } from '../../helpers/files/temporary-folder.ts';

const cluster = useScriptedCluster();

const rtr = (...words: string[]) => runRtr(cluster, words, { RTR_URL: cluster.url });

/** Returns the commands in this process, with other settings. */
const commandsWith = (environment: Record<string, string>) => adminCommandsOf({ ...cluster, environment });

describe('a command of the Admin API', () => {
  it('prints to the standard output, and a failure as one sentence or as JSON to the standard error', async () => {
    const email = `${uniqueName('ada')}@example.com`;
    const made = await rtr('users', 'create', email, '--json');
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(made.out)).toMatchObject({ email, role: 'member' });
    const [failed, failedJson, misused] = await Promise.all([
      rtr('users', 'create', email),
      rtr('users', 'create', 'nobody', '--json'),
      rtr('usage', 'report', '--from', '2030-02-31', '--json'),
    ]);
    expect(failed).toEqual({ code: 1, out: '', err: 'email: An account with this e-mail address exists already.\n' });
    const error = { code: 'invalid_request', message: expect.stringMatching(/^email: /), field: 'email' };
    expect([failedJson.code, failedJson.out, JSON.parse(failedJson.err)]).toEqual([1, '', { error }]);
    const usage = { error: { code: 'invalid_usage' } };
    expect([misused.code, misused.out, JSON.parse(misused.err)]).toMatchObject([1, '', usage]);
  });

  it('fails with a code for the kind of failure', async () => {
    const failing = async (...words: string[]): Promise<unknown> =>
      adminCommandsOf(cluster)(...words).then(() => 'done', toFailureObject);
    expect(await failing('users', 'show', '')).toEqual({
      error: { code: 'invalid_request', message: '"" is not the name or the id of anything. Nothing was sent.' },
    });
    expect(await failing('users', 'show', 'eve@example.com')).toMatchObject({ error: { code: 'not_found' } });
    const away = await failing('users', 'list', '--router', 'http://10.255.255.1');
    expect(away).toMatchObject({ error: { code: 'unavailable' } });
    const unknownLimit = adminCommandsOf(cluster)('limits', 'set', `key:${cluster.keyId}`, 'fun=1');
    await expect(unknownLimit).rejects.toThrow(/^fun is none of requests-per-minute, /);
  });

  it('takes a token of the environment or of a file, and needs no store with it', async () => {
    const { raw } = await adminCommandsOf(cluster).json('tokens', 'create', '--name', 'reader');
    const away = { REDIS_URL: 'redis://127.0.0.1:9' };
    const file = join(temporaryFolder(), 'token');
    writeFileSync(file, `${raw}\n`);
    for (const [words, environment] of [
      [[], { RTR_ADMIN_TOKEN: raw }],
      [[], { RTR_ADMIN_TOKEN_FILE: file }],
      [['--token-file', file], {}],
    ] as const) {
      const { code, lines } = await commandsWith({ ...away, ...environment }).whole('keys', 'list', '--json', ...words);
      expect(code).toBe(0);
      expect(lines.join('\n')).toContain(`"id":"${cluster.keyId}"`);
    }
    const sentence = /^Redis does not answer at 127\.0\.0\.1:9: is the cluster running\?$/;
    await expect(commandsWith(away)('users', 'list')).rejects.toThrow(sentence);
  });

  it('works on a router of another machine only with a token, and sends none otherwise', async () => {
    const asked: IncomingHttpHeaders[] = [];
    const address = await serveInTest((request, response) => {
      asked.push(request.headers);
      response.end('{}');
    });
    const { port } = new URL(address);
    const url = `http://localhost.example:${port}`;
    const needsToken = `admin token of the router at ${url}`;
    const keysBefore = await adminCommandsOf(cluster)('keys', 'list');
    for (const words of [
      ['users', 'list'],
      ['keys', 'create', '--name', 'here'],
      ['keys', 'list'],
      ['keys', 'revoke', cluster.keyId],
      ['webhooks', 'list'],
    ]) {
      await expect(adminCommandsOf(cluster)(...words, '--router', url)).rejects.toThrow(needsToken);
      await expect(commandsWith({ RTR_URL: url })(...words)).rejects.toThrow(needsToken);
    }
    // Besides the router of this machine, whose store is that of the folder, there may be access to another one.
    const near = commandsWith({ REDIS_URL: '' })('users', 'list', '--router', `http://127.0.0.1:${port}`);
    await expect(near).rejects.toThrow();
    // The settings of this machine's router may be those of another program, or of another machine.
    const listens = { RTR_URL: '', PORT: port };
    for (const subject of ['users', 'webhooks']) {
      await expect(commandsWith({ ...listens, HOST: 'localhost.example' })(subject, 'list')).rejects.toThrow(
        needsToken,
      );
      await expect(commandsWith({ ...listens, HOST: '127.0.0.1', REDIS_URL: '' })(subject, 'list')).rejects.toThrow();
    }
    // The process takes the settings of its environment.
    const ended = await runRtr(cluster, ['keys', 'list'], { RTR_URL: url });
    expect(ended).toMatchObject({ code: 1, out: '', err: expect.stringContaining(needsToken) });
    expect(asked).toEqual([]);
    expect(await adminCommandsOf(cluster)('keys', 'list')).toEqual(keysBefore);
  });

  it('exits with 2 after a dry run that has found something to change', async () => {
    const file = join(temporaryFolder(), 'access.yaml');
    writeFileSync(file, `teams:\n  ${uniqueName('Lab')}:\n`);
    expect((await rtr('apply', '-f', file, '--dry-run')).code).toBe(2);
  });

  it('lists everything, however many pages that takes', async () => {
    const { accounts } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const name = uniqueName('team');
    for (let at = 0; at < 510; at += 1) await accounts.teams.create(`${name} ${at}`);
    const lines = await adminCommandsOf(cluster)('teams', 'list', '--json');
    const names = lines.map((line) => String(JSON.parse(line).name)).filter((each) => each.includes(name));
    expect([names.length, new Set(names).size]).toEqual([510, 510]);
  });
});
