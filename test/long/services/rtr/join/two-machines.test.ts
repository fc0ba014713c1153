import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageFile } from '#shared/core/installed-package.mjs';
import { openNetwork, type Machine, type Network } from '../../../../helpers/deploy/machines.ts';
import { keepJoinTimes, type JoinStep } from '../../../../helpers/deploy/join-times.ts';
import { interrupt, type RunningCommand } from '../../../../helpers/processes/run-command.ts';
import { findLlamaServer } from '../../../../helpers/upstreams/start-llama-server.ts';
import { makeGguf } from '../../../../helpers/upstreams/make-gguf.ts';
import { until } from '../../../../helpers/until.ts';

const tarball = resolve(packageFile);
const started: RunningCommand[] = [];
const seconds: Partial<Record<JoinStep, number>> = {};
let network: Network;
let router: Machine;
let box: Machine;
let stranger: Machine;
let key = '';
let line = '';

/** Waits for a text in a command's output, and returns the seconds that it took since the command started. */
async function untilSaid(command: RunningCommand, text: string | RegExp, since: number, ms = 120_000): Promise<number> {
  let over = false;
  void command.ended.then(() => (over = true));
  const isSaid = () => (typeof text === 'string' ? command.out.includes(text) : text.test(command.out));
  await until(() => {
    if (over && !isSaid()) throw new Error(`ended before "${text}":\n${command.out}\n${command.err}`);
    return isSaid();
  }, ms);
  return (performance.now() - since) / 1000;
}

/** Runs `rtr` from the package, as a person does who has installed nothing. */
function rtr(machine: Machine, ...words: string[]): RunningCommand {
  return machine.run('npm', ['exec', '--yes', `--package=${tarball}`, '--', 'rtr', ...words]);
}

async function succeed(command: RunningCommand): Promise<string> {
  expect(await command.ended, command.err).toBe(0);
  return command.out;
}

function keep(command: RunningCommand): RunningCommand {
  started.push(command);
  return command;
}

async function ask(machine: Machine, path: string, body: object): Promise<{ worker: string; text: string }> {
  const args = ['-sS', '-i', '-m', '30', `http://${router.address}:8484${path}`];
  const headers = ['authorization: Bearer ' + key, 'content-type: application/json', 'anthropic-version: 2023-06-01'];
  for (const header of headers) args.push('-H', header);
  const text = await succeed(machine.run('curl', [...args, '-d', JSON.stringify(body)]));
  return { worker: /^x-rtr-worker: (.*)\r$/im.exec(text)?.[1] ?? '', text };
}

const question = (model: string) => ({ model, max_tokens: 8, messages: [{ role: 'user', content: 'Hello.' }] });
const chatPath = '/api/openai/v1/chat/completions';

beforeAll(() => {
  execFileSync(process.execPath, ['services/rtr/bootstrap.mjs', 'build', '--package'], { stdio: 'pipe' });
  network = openNetwork(3);
  [router, box, stranger] = network.machines as [Machine, Machine, Machine];
}, 120_000);

afterAll(async () => {
  for (const command of started.reverse()) {
    interrupt(command);
    await command.ended;
  }
  network.close();
});

describe('the package on machines of their own', { tags: ['networks', 'llama-server'] }, () => {
  it('runs a router with one command', async () => {
    const first = performance.now();
    const run = rtr(router, 'up', '--expose');
    seconds.firstStart = await untilSaid(run, 'Ctrl-C stops everything.', first);
    key = /rtr_[\w-]+/.exec(run.out)?.[0] ?? '';
    interrupt(run);
    await run.ended;
    expect(run.out).toContain('Stopped.');
    const second = performance.now();
    seconds.nextStart = await untilSaid(keep(rtr(router, 'up', '--expose')), 'Ctrl-C stops everything.', second);
    expect(seconds.nextStart).toBeLessThan(20);
    for (const [machine, path] of [
      [router, chatPath],
      [box, chatPath],
      [box, '/api/anthropic/v1/messages'],
    ] as const)
      expect((await ask(machine, path, question('auto'))).text).toMatch(/^HTTP\/1.1 200/);
  });

  it('lets a box join with the line of an invitation, which serves', async () => {
    const llama = findLlamaServer() ?? '';
    writeFileSync(join(box.home, 'tiny.gguf'), makeGguf({ context: 4096 }));
    const flags = ['--model', 'tiny.gguf', '--alias', 'tiny', '--port', '8080', '--threads', '1', '--ctx-size', '4096'];
    const engine = keep(box.run(resolve(llama), flags));
    await until(() => engine.err.includes('listening on') || engine.out.includes('listening on'), 30_000);

    line = (await succeed(rtr(router, 'invite', 'worker', '--name', 'joes-box'))).trim();
    expect(line.split('\n')).toHaveLength(1);
    const since = performance.now();
    const joining = keep(box.paste(line));
    seconds.boxJoins = await untilSaid(joining, 'joined as joes-box, 1 engine, 1 model', since);
    expect(joining.out).toContain('llama.cpp');
    const { text, worker } = await ask(router, chatPath, question('tiny'));
    expect(text).toMatch(/^HTTP\/1.1 200/);
    expect(worker).toMatch(/^joes-box\./);

    await succeed(rtr(router, 'workers', 'drain', worker));
    expect((await ask(router, chatPath, question('tiny'))).text).toMatch(/^HTTP\/1.1 (?!200)/);
    await succeed(rtr(router, 'workers', 'undrain', worker));
    await until(async () => (await ask(router, chatPath, question('tiny'))).text.startsWith('HTTP/1.1 200'));
  });

  it('refuses used, wrong and forged invitations', async () => {
    const used = stranger.paste(line);
    expect(await used.ended).toBe(1);
    expect(used.err).toMatch(/used/);

    const [address, token = ''] = line.slice(line.lastIndexOf(' ') + 1).split('#');
    const [secret = '', fingerprint = ''] = token.split('.');
    const wrong = rtr(stranger, 'join', `${address}#${'A'.repeat(secret.length)}.${fingerprint}`);
    expect(await wrong.ended).toBe(1);
    expect(wrong.err).toMatch(/invitation/);

    const forged = rtr(stranger, 'join', `${address}#${secret}.${'A'.repeat(fingerprint.length)}`);
    expect(await forged.ended).toBe(1);
    expect(forged.err).toMatch(/certificate/);
  });

  it('lets a box join whose clock is an hour late', async () => {
    const late = (await succeed(rtr(router, 'invite', 'worker', '--name', 'late-box'))).trim();
    const clock = 'const { now } = Date; Date.now = () => now() - 3_600_000;';
    const environment = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clock)}` };
    const joining = keep(stranger.paste(late, environment));
    await untilSaid(joining, 'joined as late-box', performance.now());
  });

  it('ends a box that is revoked', async () => {
    const joining = started.find(({ out }) => out.includes('joined as joes-box'));
    await succeed(rtr(router, 'credentials', 'revoke', 'joes-box'));
    const since = performance.now();
    // Its workers are cut off within a second, see up.test.ts; the box ends when it has seen that the router refuses it.
    expect(await joining?.ended).not.toBe(0);
    seconds.revoked = (performance.now() - since) / 1000;
    expect(seconds.revoked).toBeLessThan(4);
    expect(joining?.err).toMatch(/revoked/);
    if (process.env['KEEP_RESULTS'] === '1') keepJoinTimes(seconds);
  });
});
