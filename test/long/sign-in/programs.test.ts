import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import { installPackedClient, type PackedClient } from '../../helpers/clients/packed-client.ts';
import { findCli } from '../../helpers/clis/install-clis.ts';
import { runAgent, type AgentRun } from '../../helpers/clis/run-agent.ts';
import { arrowUp, enter, openTerminal } from '../../helpers/clis/terminal-session.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import type { KnownPerson } from '../../helpers/console/open-as.ts';
import { temporaryFolder } from '../../helpers/files/temporary-folder.ts';
import { hostNode } from '../../helpers/processes/run-command.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { startRecordingProxy } from '../../helpers/upstreams/start-recording-proxy.ts';
import { until } from '../../helpers/until.ts';

const [claude = '', codex = '', opencode = ''] = [findCli('claude'), findCli('codex'), findCli('opencode')];

const here = shareConsole();
let ada: KnownPerson;
let client: PackedClient;

beforeAll(async () => {
  ada = await here.invite('Ada');
  client = await installPackedClient();
  await client.signIn(here.cluster.url, ada.client);
});
afterAll(() => client.remove());

/** The home of the person, with the settings that `rtr env` has written, and a note to read. */
function work(): string {
  const folder = join(client.home, 'work');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'note.txt'), 'The umbrella is in the fridge.\n');
  return folder;
}

/** Runs a program of the person, who has no key anywhere. */
async function runInHome(command: string, args: readonly string[], input = ''): Promise<AgentRun> {
  const own = { HOME: client.home, XDG_CONFIG_HOME: join(client.home, 'config') };
  return runAgent(command, args, work(), { ...own, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }, input);
}

/** The requests of Ada that are in the ledger, the newest first. */
async function requestsOfAda() {
  return (await readUsage(here.cluster.prefix)).filter(({ owner }) => owner?.id === ada.id);
}

async function countsFor(kind: string, before: number, requests = 2): Promise<void> {
  await until(async () => (await requestsOfAda()).length >= before + requests);
  const [last] = await requestsOfAda();
  expect(last).toMatchObject({ owner: { kind: 'user', id: ada.id }, key: { name: ada.name }, format: kind });
}

describe('a person without a key', () => {
  it('uses Claude Code with a tool, by apiKeyHelper', { tags: ['claude'] }, async () => {
    await client.print(['env', 'claude', '--write']);
    const before = (await requestsOfAda()).length;
    const file = join(work(), 'note.txt');
    const prompt = `Where is it?\n[demo call Read {"file_path": "${file}"}]\n[demo say "It is in the fridge."]`;
    const { stdout } = await runInHome(claude, ['-p', prompt, '--allowedTools', 'Read']);
    expect(stdout).toContain('It is in the fridge.');
    await countsFor('messages', before);
    // The hint headers, which the settings switch on, say what each request is for.
    expect((await requestsOfAda()).some(({ purpose }) => purpose === 'main')).toBe(true);
  });

  it('uses Codex with a tool, by auth.command', { tags: ['codex'] }, async () => {
    await client.print(['env', 'codex', '--write']);
    const before = (await requestsOfAda()).length;
    const call = '[demo call exec_command {"cmd": "cat note.txt > found.txt"}]';
    const prompt = `Where is it?\n${call}\n[demo say "It is in the fridge."]`;
    const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
    const { stdout } = await runInHome(codex, ['exec', ...flags, prompt]);
    expect(stdout).toContain('It is in the fridge.');
    expect(readFileSync(join(work(), 'found.txt'), 'utf8')).toBe('The umbrella is in the fridge.\n');
    await countsFor('responses', before);
  });

  it('uses opencode with a tool, by its plugin', { tags: ['opencode'] }, async () => {
    await client.print(['env', 'opencode', '--write']);
    const before = (await requestsOfAda()).length;
    const file = join(work(), 'note.txt');
    const prompt = `Where is it?\n[demo call read {"filePath": "${file}"}]\n[demo say "It is in the fridge."]`;
    const { stdout } = await runInHome(opencode, ['run', '-m', 'rtr/auto'], prompt);
    expect(stdout).toContain('It is in the fridge.');
    await countsFor('chat', before);
  });

  it('uses the SDK of OpenAI, by the variables that a shell takes from rtr env', async () => {
    const program = [
      "import OpenAI from 'openai';",
      'const client = new OpenAI();',
      "const asked = { model: 'auto', messages: [{ role: 'user', content: '[demo say \"Hello, Ada.\"]' }] };",
      'const answer = await client.chat.completions.create(asked);',
      'process.stdout.write(answer.choices[0].message.content);',
    ].join('\n');
    const script = `eval "$(${hostNode()} ${client.rtr} env openai)" && exec ${process.execPath} --input-type=module -e '${program.replaceAll("'", `'\\''`)}'`;
    const env = { HOME: client.home, XDG_CONFIG_HOME: join(client.home, 'config'), PATH: '/usr/bin:/bin' };
    const before = (await requestsOfAda()).length;
    const { stdout } = await promisify(execFile)('sh', ['-c', script], { env });
    expect(stdout).toBe('Hello, Ada.');
    await countsFor('chat', before, 1);
  });

  it('is told by Claude Code when the sign-in was ended', { tags: ['claude'] }, async () => {
    const program = String(client.tokens()['refreshToken']).split('_')[2];
    await ada.client.delete(`/programs/${program}`);
    const { code, stdout, stderr } = await runInHome(claude, ['-p', 'Hello!']);
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain(`You are signed out of ${here.cluster.url}. Sign in again with: rtr login`);
    await client.print(['logout']);
  });
});

describe('Claude Code that signs in by itself', { tags: ['claude'] }, () => {
  it('goes through /login, gets its settings, runs a tool, and is refused once it is signed out', async () => {
    const folder = temporaryFolder();
    const proxy = stopAfterTest(await startRecordingProxy(here.cluster.url));
    const gateway = `${proxy.url}/api/anthropic`;
    const home = join(folder, 'home');
    const config = join(home, '.claude');
    mkdirSync(config, { recursive: true });
    const settings = { forceLoginMethod: 'gateway', forceLoginGatewayUrl: gateway };
    writeFileSync(join(config, 'settings.json'), JSON.stringify(settings));
    // The browser of the person: it keeps the address that it is to open.
    const opened = join(folder, 'opened.txt');
    const browser = join(folder, 'bin/xdg-open');
    mkdirSync(dirname(browser));
    writeFileSync(browser, `#!/bin/sh\necho "$1" > '${opened}'\n`);
    chmodSync(browser, 0o755);
    const env = {
      HOME: home,
      CLAUDE_CONFIG_DIR: config,
      PATH: ['/usr/bin', '/bin'].toSpliced(0, 0, dirname(browser)).join(delimiter),
      BROWSER: browser,
      TERM: 'xterm-256color',
    };
    const terminal = openTerminal(`'${claude}'`, { cwd: folder, env });
    try {
      await terminal.see('Choose the text style', enter);
      await terminal.see('Enter to connect', enter);
      await terminal.see('Yes, trust this gateway', arrowUp + enter);
      await until(() => existsSync(opened) && readFileSync(opened, 'utf8').includes('code='));
      const page = new URL(readFileSync(opened, 'utf8').trim());
      expect(page.pathname).toBe('/device');
      const code = page.searchParams.get('code') ?? '';
      expect((await ada.client.post(`/devices/${code}/find`)).body).toMatchObject({ client: 'Claude Code' });
      await ada.client.post(`/devices/${code}`, { decision: 'approve' });
      await terminal.see(`as ${ada.email}`, arrowUp + enter);
      await terminal.see('Connected to');
    } finally {
      await terminal.stop();
    }
    const note = join(folder, 'note.txt');
    writeFileSync(note, 'The umbrella is in the fridge.\n');
    const own = { HOME: home, CLAUDE_CONFIG_DIR: config };
    const run = (prompt: string) => runAgent(claude, ['-p', prompt, '--allowedTools', 'Read'], folder, own);
    const prompt = `Where is it?\n[demo call Read {"file_path": "${note}"}]\n[demo say "It is in the fridge."]`;
    const before = (await requestsOfAda()).length;
    expect((await run(prompt)).stdout).toContain('It is in the fridge.');
    await countsFor('messages', before);
    expect(proxy.answered).toContain('GET /api/anthropic/managed/settings 200');
    // The hint headers, which the settings switch on, say what each request is for.
    expect((await requestsOfAda())[0]).toMatchObject({ purpose: 'main' });
    expect(proxy.answered.some((each) => each.startsWith('GET /api/anthropic/v1/models'))).toBe(true);
    const [program] = (await ada.client.get('/programs')).body;
    await ada.client.delete(`/programs/${program.id}`);
    const refused = await run('Hello!');
    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).toMatch(/log ?in|sign ?in/i);
  });
});
