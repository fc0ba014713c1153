import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { postForm, signInProgram } from '../../../../helpers/clients/device-flow.ts';
import { statusWith } from '../../../../helpers/clients/status-with.ts';
import { installPackedClient, type PackedClient } from '../../../../helpers/clients/packed-client.ts';
import { shareConsole } from '../../../../helpers/console/console-with-ada.ts';
import type { KnownPerson } from '../../../../helpers/console/open-as.ts';
import { least } from '../../../../helpers/least.ts';
import { startPausableProxy } from '../../../../helpers/servers/pausable-proxy.ts';
import { until } from '../../../../helpers/until.ts';
import { useStarted } from '../../../../helpers/use-started.ts';

const here = shareConsole();
let url: string;
let ada: KnownPerson;
let client: PackedClient;

const proxy = useStarted(() => startPausableProxy(Number(new URL(here.cluster.url).port)));
beforeAll(async () => {
  url = `http://127.0.0.1:${proxy.port}`;
  ada = await here.invite('Ada');
  client = await installPackedClient();
});
afterAll(() => client.remove());
beforeEach(async () => {
  // A sign-in takes as long as the first poll waits.
  if (!client.isSignedIn()) await client.signIn(url, ada.client);
  await client.print(['token']);
});

/** How many refreshes have led to the tokens that are kept. */
function generation(): number {
  return Number(String(client.tokens()['refreshToken']).split('_')[3]);
}

describe('rtr login', () => {
  it('keeps the tokens where only the person can read them, and shows none', async () => {
    const command = await client.signIn(url, ada.client);
    expect(command.out).toContain(`You are signed in to ${url} as ${ada.email}.`);
    const { accessToken, refreshToken } = client.tokens();
    for (const token of [accessToken, refreshToken]) expect(command.out + command.err).not.toContain(token);
    const folder = join(client.home, 'config/rtr');
    expect((statSync(folder).mode & 0o777).toString(8)).toBe('700');
    expect((statSync(join(folder, 'routers.json')).mode & 0o777).toString(8)).toBe('600');
    const [program] = (await ada.client.get('/programs')).body;
    expect(program.client).toMatch(/^rtr on /);
  });

  it('says why it cannot: denied, not a router, away, without TLS', async () => {
    const { command, code } = await client.begin(url);
    await ada.client.post(`/devices/${code}`, { decision: 'deny' });
    expect(await command.ended).toBe(1);
    expect(command.err).toBe('The sign-in was denied.\n');
    const cases: [string, RegExp][] = [
      [here.cluster.adminUrl, /is not a Model Router/],
      ['http://127.0.0.1:1', /cannot be reached \(.*ECONNREFUSED/],
      ['http://192.0.2.1', /has no TLS/],
    ];
    for (const [address, message] of cases)
      expect(await client.fail(['login', address])).toEqual([1, expect.stringMatching(message)]);
  });

  it('gets its tokens although the answer with them was lost, and leaves no program without any', async () => {
    const programs = async () => Number((await ada.client.get('/programs')).body.length);
    const before = await programs();
    const { command, code } = await client.begin(url);
    proxy.pauseAnswers();
    onTestFinished(() => proxy.resume());
    await ada.client.post(`/devices/${code}`, { decision: 'approve' });
    await until(async () => (await programs()) === before + 1);
    proxy.cut();
    proxy.resume();
    expect([await command.ended, command.err]).toEqual([0, '']);
    expect(await statusWith(here.cluster.url, await client.print(['token']))).toBe(200);
    // The sign-in before was ended.
    expect(await programs()).toBe(before);
  });

  it('with several routers has the last one as the default, and takes the base URL of an SDK, which is apart', async () => {
    await client.signIn(here.cluster.url, ada.client);
    const first = await client.print(['token']);
    expect(await client.print(['token', '--router', `${here.cluster.url}/api/anthropic`])).toBe(first);
    const router = `${here.cluster.url}/api/openai`;
    const command = await client.signIn(`${router}/v1`, ada.client);
    expect(command.out).toContain(`You are signed in to ${router} as ${ada.email}.`);
    const second = await client.print(['token']);
    expect(await statusWith(here.cluster.url, second)).toBe(200);
    expect(await client.print(['token', '--router', `${router}/v1`])).toBe(second);
    expect(await client.print(['token', '--router', `${here.cluster.url}/console/`])).toBe(first);
    expect(await statusWith(here.cluster.url, await client.print(['token', '--router', url]))).toBe(200);
    expect(await client.print(['env', 'openai', '--router', `${router}/v1`])).toContain(`--router ${router})`);
    for (const named of [router, here.cluster.url, url]) {
      const entered = named === router ? `${router}/v1` : named;
      expect(await client.print(['logout', '--router', entered])).toBe(`You are signed out of ${named}.\n`);
    }
    expect(await client.fail(['token'])).toEqual([1, expect.stringContaining('You are not signed in.')]);
    await client.signIn(url, ada.client);
  });

  it('replaces damaged files', async () => {
    const index = join(dirname(client.tokenPath()), 'routers.json');
    const whole = readFileSync(index, 'utf8');
    for (const file of [client.tokenPath(), index]) {
      writeFileSync(file, '{"router');
      expect(await client.fail(['token'])).toEqual([1, expect.stringContaining(`${file} is damaged.`)]);
    }
    await client.signIn(url, ada.client);
    expect(readFileSync(index, 'utf8')).toBe(whole);
    expect(await client.print(['token'])).toBe(`${String(client.tokens()['accessToken'])}\n`);
  });
});

describe('rtr token', () => {
  it('prints the token that it has while that lasts for two more minutes, else a new one', async () => {
    const first = await client.print(['token']);
    expect(await client.print(['token'])).toBe(first);
    const before = generation();
    client.changeTokens({ expiresAt: Date.now() + 119_000 });
    const second = await client.print(['token']);
    expect(await statusWith(here.cluster.url, second)).toBe(200);
    expect(generation()).toBe(before + 1);
  });

  it('asked for by five programs at once refreshes once, and all get the token', async () => {
    const before = generation();
    client.changeTokens({ expiresAt: 0 });
    const tokens = await Promise.all(Array.from({ length: 5 }, () => client.print(['token'])));
    expect(new Set(tokens).size).toBe(1);
    expect(await statusWith(here.cluster.url, tokens[0] ?? '')).toBe(200);
    expect(generation()).toBe(before + 1);
  });

  it('goes on after a kill in the middle of a refresh, before and after the router has answered', async () => {
    for (const pause of [() => proxy.pause(), () => proxy.pauseAnswers()]) {
      client.changeTokens({ expiresAt: 0 });
      pause();
      const command = client.run(['token']);
      await until(() => existsSync(lockFile()));
      await sleep(500);
      command.child.kill('SIGKILL');
      await command.ended;
      proxy.resume();
      expect(await statusWith(here.cluster.url, await client.print(['token']))).toBe(200);
    }
  });

  it('ends no refresh when it is asked to end, so that no token is lost', async () => {
    client.changeTokens({ expiresAt: 0 });
    proxy.pause();
    const command = client.run(['token']);
    await until(() => existsSync(lockFile()));
    command.child.kill('SIGTERM');
    command.child.kill('SIGINT');
    proxy.resume();
    expect(await command.ended).toBe(0);
    expect(await statusWith(here.cluster.url, command.out)).toBe(200);
  });

  it('prints what it has while the router is away, as long as that lasts', async () => {
    client.changeTokens({ expiresAt: Date.now() + 60_000 });
    proxy.cut();
    onTestFinished(() => proxy.resume());
    expect(await client.print(['token'])).toBe(`${String(client.tokens()['accessToken'])}\n`);
    client.changeTokens({ expiresAt: Date.now() - 1 });
    expect(await client.fail(['token'])).toEqual([1, expect.stringContaining('cannot be reached')]);
  });

  it('keeps a new sign-in that came while it was refreshing, and prints the token of that', async () => {
    const before = client.tokens();
    client.changeTokens({ expiresAt: 0 });
    proxy.pauseAnswers();
    onTestFinished(() => proxy.resume());
    const command = client.run(['token']);
    await until(() => existsSync(lockFile()));
    const { accessToken, refreshToken } = await signInProgram(here.cluster.url, ada.client);
    const signedIn = { accessToken, refreshToken, expiresAt: Date.now() + 900_000 };
    client.changeTokens(signedIn);
    proxy.resume();
    expect([await command.ended, command.out]).toEqual([0, `${accessToken}\n`]);
    expect(client.tokens()).toMatchObject(signedIn);
    await postForm(`${here.cluster.url}/oauth/revoke`, { token: String(before['refreshToken']) });
  });

  it('says why the router does not refresh a token that it has not ended', async () => {
    const { refreshToken } = client.tokens();
    onTestFinished(() => client.changeTokens({ refreshToken }));
    client.changeTokens({ expiresAt: 0, refreshToken: 'x'.repeat(5_000) });
    const message = 'does not renew the sign-in: A field of the form is too long, or comes more than once.';
    expect(await client.fail(['token'])).toEqual([1, `${url} ${message}\n`]);
  });

  it('takes less than ten seconds, also for several programs at once while the router does not answer', async () => {
    client.changeTokens({ expiresAt: 0 });
    proxy.pause();
    onTestFinished(() => proxy.resume());
    const ask = async (): Promise<number> => {
      const begin = performance.now();
      const commands = Array.from({ length: 3 }, () => client.run(['token']));
      expect(await Promise.all(commands.map(({ ended }) => ended))).toEqual([1, 1, 1]);
      return performance.now() - begin;
    };
    expect(await least(ask, 10_000)).toBeLessThan(10_000);
  });

  it('of a program that was signed out says that one must sign in again', async () => {
    const id = String(client.tokens()['refreshToken']).split('_')[2];
    expect((await ada.client.delete(`/programs/${id}`)).status).toBe(204);
    const message = `You are signed out of ${url}. Sign in again with: rtr login ${url}\n`;
    expect(await client.fail(['token'])).toEqual([1, message]);
    await client.print(['logout']);
  });
});

describe('rtr logout', () => {
  it('ends the sign-in at the router and deletes the tokens', async () => {
    const token = await client.print(['token']);
    expect(await client.print(['logout'])).toBe(`You are signed out of ${url}.\n`);
    // Without being told, an ingress would look at the token again after half a minute.
    await until(async () => (await statusWith(here.cluster.url, token)) === 401, 15_000);
    expect(() => client.tokens()).toThrow('ENOENT');
  });

  it('deletes the tokens although the router is away, and says so', async () => {
    proxy.cut();
    onTestFinished(() => proxy.resume());
    const message = 'Your tokens are deleted here, but they are not revoked at the router.';
    expect(await client.fail(['logout'])).toEqual([1, expect.stringContaining(message)]);
    expect(() => client.tokens()).toThrow('ENOENT');
  });
});

describe('rtr env', () => {
  it('writes the settings once, keeps what was there, and a copy of the file before', async () => {
    const file = join(client.home, '.claude/settings.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '{\n  "theme": "dark",\n  "env": { "MINE": "1" }\n}\n');
    const told = await client.print(['env', 'claude', '--write']);
    expect(told).toContain(`The original file is kept as ${file}.before-rtr.`);
    const written = readFileSync(file, 'utf8');
    expect(JSON.parse(written)).toMatchObject({
      theme: 'dark',
      apiKeyHelper: expect.stringMatching(new RegExp(`token --router ${url}$`)) as string,
      env: {
        MINE: '1',
        ANTHROPIC_BASE_URL: `${url}/api/anthropic`,
        CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
        CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
      },
    });
    expect(await client.print(['env', 'claude', '--write'])).toContain('has these settings already');
    expect(readFileSync(file, 'utf8')).toBe(written);
    expect(readFileSync(`${file}.before-rtr`, 'utf8')).toContain('"theme": "dark",\n  "env": { "MINE": "1" }');
  });

  it('keeps a model that the router serves in the settings of Codex, and gives auto in place of another', async () => {
    const file = join(client.home, '.codex/config.toml');
    mkdirSync(dirname(file), { recursive: true });
    for (const [chosen, kept] of [
      ['demo', 'demo'],
      ['gpt-5.5', 'auto'],
    ]) {
      writeFileSync(file, `# mine\nmodel = "${chosen}"\n\n[tui]\ntheme = "dark"\n`);
      await client.print(['env', 'codex', '--write']);
      const text = readFileSync(file, 'utf8');
      expect(text).toContain(`model = "${kept}"\nmodel_provider = "rtr"\n# mine\n`);
      expect(text).toContain('[model_providers.rtr.auth]');
      expect(text).not.toContain(chosen === kept ? '"auto"' : `"${chosen}"`);
    }
  });

  it('prints variables for each shell, whose token works', async () => {
    for (const shell of ['sh', 'fish', 'powershell'])
      expect(await client.print(['env', 'openai', '--shell', shell])).toContain(`${url}/api/openai/v1`);
    const script = await client.print(['env', 'openai']);
    expect(script).toMatch(/^export OPENAI_BASE_URL=\S+\nexport OPENAI_API_KEY="\$\(.* token --router \S+\)"\n$/);
  });

  it('is refused for a program that it does not know', async () => {
    const message = 'rtr has settings for claude, codex, opencode, openai';
    expect(await client.fail(['env', 'emacs'])).toEqual([2, expect.stringContaining(message)]);
  });
});

function lockFile(): string {
  return client.tokenPath().replace('.tokens.json', '.lock');
}
