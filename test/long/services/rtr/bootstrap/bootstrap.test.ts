import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { processIdentity } from '#shared/core/process-identity.mjs';
import { serviceNodeFlags } from '#services/rtr/bootstrap/service-node-flags.mjs';
import { packagesLock } from '#services/rtr/bootstrap/running-cluster.mjs';
import { takeLock } from '#shared/core/take-lock.mjs';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';
import { hostNode, runCommand, type RunningCommand } from '../../../../helpers/processes/run-command.ts';
import { until } from '../../../../helpers/until.ts';

/** A stub of npm: it does what the bootstrap expects of `npm ci`, and records its runs. */
const npm = `#!/bin/sh
echo "$@" >> npm-runs
sleep 0.2
[ -f npm-hangs ] && { trap '' INT; sleep 300 & echo "$$ $!" > npm-hangs; wait; wait; }
[ -f npm-offline ] && { cat npm-offline >&2; exec sleep 300; }
[ -f npm-fails ] && { cat npm-fails >&2; exit 7; }
mkdir -p node_modules/node/bin node_modules/zod
ln -sf "${process.execPath}" node_modules/node/bin/node
echo '{ "main": "main.js" }' | tee node_modules/node/package.json > node_modules/zod/package.json
echo 'module.exports = {}' > node_modules/zod/main.js
cp package-lock.json node_modules/.package-lock.json
`;

const main = `
import 'zod';
process.send?.('loaded');
if (process.argv[2] === 'wait') {
  let signals = 0;
  process.on('SIGINT', () => { signals += 1; console.log('signals', signals); setTimeout(() => process.exit(3), 300); });
  process.on('disconnect', () => { process.exit(0); });
  console.log('waiting', process.pid);
  setInterval(() => {}, 1000);
} else {
  console.log([process.version, ...process.argv.slice(2), ...process.execArgv].join(' '));
  process.exitCode = 5;
}
`;

const node = { 'node_modules/node': { version: '24.0.0', dev: true } };
const zod = (version: string) => ({ 'node_modules/zod': { version } });
const flags = '--no-audit --no-fund --loglevel=http';
const installs = `ci --include=dev --ignore-scripts ${flags}`;

let root: string;

beforeEach(() => {
  root = temporaryFolder();
  cpSync('services/rtr/bootstrap', join(root, 'services/rtr/bootstrap'), { recursive: true });
  for (const file of ['take-lock.mjs', 'process-identity.mjs', 'installed-package.mjs'])
    cpSync(`shared/core/${file}`, join(root, 'shared/core', file));
  cpSync('services/rtr/bootstrap.mjs', join(root, 'services/rtr/bootstrap.mjs'));
  writeFileSync(join(root, 'services/rtr/main.ts'), main);
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }');
  mkdirSync(join(root, 'bin'));
  writeFileSync(join(root, 'bin/npm'), npm, { mode: 0o755 });
  lock({ ...node, ...zod('4.0.0') });
});

describe('the bootstrap', () => {
  it('installs what is missing, reports it in one line, and runs the file on Node 24', async () => {
    const first = rtr('some', 'words');
    expect(await first.ended).toBe(5);
    expect(first.out).toBe(`${process.version} some words\n`);
    expect(first.err).toMatch(/^Installing dependencies \(npm ci\): \d packages[^\n]*\n$/);
    expect(npmRuns()).toEqual([installs]);
  });

  it('runs the scripts of the packages that the project allows, and of no others', async () => {
    const allowScripts = { node: true, argon2: true, ssh2: false };
    writeFileSync(join(root, 'package.json'), JSON.stringify({ type: 'module', allowScripts }));
    expect(await rtr().ended).toBe(5);
    expect(npmRuns()).toEqual([installs, `rebuild node argon2 ${flags}`]);
  });

  it('starts services with their Node flags, and other commands without', async () => {
    for (const words of ['ingress', 'worker gpu', 'demo-engine']) {
      const service = rtr(...words.split(' '));
      expect(await service.ended).toBe(5);
      expect(service.out).toBe(`${process.version} ${words} ${serviceNodeFlags.join(' ')}\n`);
    }
    const other = rtr('keys', 'list');
    expect(await other.ended).toBe(5);
    expect(other.out).toBe(`${process.version} keys list\n`);
  });

  const spared = {
    'node_modules/vitest': { version: '5.0.0', dev: true },
    'node_modules/for-windows': { version: '1.0.0', optional: true },
  };
  it.each<[what: string, change: () => void, runs: number]>([
    ['nothing when everything is there', () => undefined, 1],
    ['again when the lock file names another version', () => lock({ ...node, ...zod('4.0.1') }), 2],
    ['nothing for missing development and optional packages', () => lock({ ...node, ...zod('4.0.0'), ...spared }), 1],
    [
      'again when the folder of a package is gone',
      () => rmSync(join(root, 'node_modules/zod'), { recursive: true }),
      2,
    ],
    ['again after an interrupted installation', () => rmSync(join(root, 'node_modules/.package-lock.json')), 2],
  ])('installs %s', async (_, change, runs) => {
    await rtr().ended;
    change();
    const second = rtr();
    expect(await second.ended).toBe(5);
    expect(second.err === '').toBe(runs === 1);
    expect(npmRuns()).toHaveLength(runs);
  });

  it('installs once when started twice at the same time', async () => {
    const both = [rtr(), rtr()];
    expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([5, 5]);
    expect(npmRuns()).toHaveLength(1);
  });

  it("passes npm's own error through", async () => {
    writeFileSync(join(root, 'npm-fails'), 'npm error the disk is full\n');
    const run = rtr();
    expect(await run.ended).toBe(1);
    expect(run.err).toContain('npm error the disk is full');
    expect(run.err).toContain('npm ci failed (exit code 7)');
  });

  it('says in one sentence that the network is away', async () => {
    const output =
      'npm error code EAI_AGAIN\nnpm error request to https://example.com/zod failed, reason: getaddrinfo EAI_AGAIN\n';
    writeFileSync(join(root, 'npm-fails'), output);
    const run = rtr();
    expect(await run.ended).toBe(1);
    expect(run.err.trim().split('\n')).toEqual([
      expect.stringContaining('Installing dependencies'),
      expect.stringContaining("npm's registry is out of reach (EAI_AGAIN)"),
    ]);
  });

  it('stops npm when no download could begin within ten seconds', async () => {
    writeFileSync(
      join(root, 'npm-offline'),
      'npm http fetch GET https://example.com/zod attempt 1 failed with ENOTFOUND\n',
    );
    const run = rtr();
    expect(await run.ended).toBe(1);
    expect(run.err).toContain("npm's registry is out of reach (ENOTFOUND)");
    expect(run.err).not.toContain('nothing has arrived');
  });

  it('waits for a slow download, and says so every ten seconds', async () => {
    const lines = ['https://example.com/a attempt 1 failed with ECONNRESET', '200 https://example.com/b 9000ms'];
    writeFileSync(join(root, 'npm-offline'), lines.map((line) => `npm http fetch GET ${line}\n`).join(''));
    const run = rtr();
    await until(() => expect(run.err).toContain('… 10 s: nothing has arrived yet'), 20_000);
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(1);
  });

  it.each([
    ['gone', () => rmSync(join(root, 'node_modules/zod/main.js'))],
    ['cut off', () => writeFileSync(join(root, 'node_modules/zod/main.js'), 'module.exp = {')],
  ])('installs all packages again, once, when a file of one is %s', async (_, damage) => {
    await rtr().ended;
    damage();
    const second = rtr('some', 'words');
    expect(await second.ended).toBe(5);
    expect(second.out).toBe(`${process.version} some words\n`);
    expect(second.err).toContain('An installed package is damaged: all packages are installed again.');
    expect(npmRuns()).toHaveLength(2);
  });

  it('does not install again for a mistake in the project', async () => {
    await rtr().ended;
    writeFileSync(join(root, 'services/rtr/main.ts'), "import './absent.ts';");
    expect(await rtr().ended).toBe(1);
    expect(npmRuns()).toHaveLength(1);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('leaves nothing of npm running when it gets %s meanwhile', async (signal) => {
    const hangs = join(root, 'npm-hangs');
    writeFileSync(hangs, '');
    const run = rtr();
    await until(() => expect(readFileSync(hangs, 'utf8')).toMatch(/^\d+ \d+\n$/));
    const pids = readFileSync(hangs, 'utf8').split(' ').map(Number);
    run.child.kill(signal);
    expect(await run.ended).toBe(1);
    expect(run.err).toContain('The installation was stopped.');
    for (const pid of pids) await until(() => expect(processIdentity(pid)).toBeUndefined());
    rmSync(hangs);
    expect(await rtr().ended).toBe(5);
  });

  it.each([
    ['here', () => join(root, '.rtr/up.lock')],
    ['in another data folder', () => packagesLock(root, '/srv/router')],
  ])('refuses to replace the dependencies of a cluster that runs %s', async (_, findLock) => {
    const held = takeLock(findLock());
    const run = rtr();
    expect(await run.ended).toBe(1);
    expect(run.err).toContain(`a cluster (process ${process.pid}) runs on the installed ones`);
    if ('release' in held) held.release();
  });

  it('forwards a Ctrl-C from both terminal and npm once, and the exit code', async () => {
    const run = rtr('wait');
    await until(() => run.out.includes('waiting'));
    run.child.kill('SIGINT');
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(3);
    expect(run.out).toContain('signals 1');
    expect(run.out).not.toContain('signals 2');
  });

  it('closes the channel to the program when it is killed itself', async () => {
    const run = rtr('wait');
    await until(() => run.out.includes('waiting'));
    const pid = Number(/waiting (\d+)/.exec(run.out)?.[1]);
    run.child.kill('SIGKILL');
    await run.ended;
    await until(() => expect(processIdentity(pid)).toBeUndefined());
  });

  it('stops the program when the npm that started it has ended', async () => {
    const { pid } = await orphan('npm_lifecycle_event=start');
    await until(() => expect(processIdentity(pid)).toBeUndefined());
  });

  it('keeps running when the shell that put it in the background ends', async () => {
    const { pid, bootstrap } = await orphan('');
    await sleep(1_500);
    expect(processIdentity(pid)).toBeDefined();
    process.kill(bootstrap, 'SIGTERM');
    await until(() => expect(processIdentity(pid)).toBeUndefined());
  });
});

/** Starts the waiting program from a shell that ends once it runs. */
async function orphan(variables: string): Promise<{ pid: number; bootstrap: number }> {
  await rtr().ended;
  const out = join(root, 'out');
  const start = `${variables} '${hostNode()}' services/rtr/bootstrap.mjs wait > out 2>&1 &`;
  const script = `${start} echo $!; while ! grep -q waiting out; do sleep 0.05; done`;
  const shell = runCommand('/bin/sh', ['-c', script], { cwd: root, env: { PATH: '/usr/bin:/bin' } });
  await shell.ended;
  return { pid: Number(/waiting (\d+)/.exec(readFileSync(out, 'utf8'))?.[1]), bootstrap: Number(shell.out) };
}

function rtr(...args: string[]): RunningCommand {
  const node = hostNode();
  const path = [join(root, 'bin'), join(node, '..'), '/usr/bin', '/bin'].join(delimiter);
  return runCommand(node, ['services/rtr/bootstrap.mjs', ...args], { cwd: root, env: { PATH: path } });
}

function lock(packages: Record<string, { version: string; dev?: boolean; optional?: boolean }>): void {
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }));
}

function npmRuns(): string[] {
  return readFileSync(join(root, 'npm-runs'), 'utf8').trim().split('\n');
}
