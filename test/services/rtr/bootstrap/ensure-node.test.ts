import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { hostNode, runCommand, type RunningCommand } from '../../../helpers/processes/run-command.ts';
import { until } from '../../../helpers/until.ts';

/** A stub of npm: unpacks a program of Node with what comes beside it, and records its runs. */
const npm = `#!/bin/sh
echo "$@" >> ../../../npm-runs
for word; do case $word in node-*@*) name=\${word%@*};; esac; done
mkdir -p node_modules/$name/bin node_modules/$name/include
echo unfinished > node_modules/$name/bin/node
[ -f ../../../npm-hangs ] && { sleep 300 & wait; }
sleep 0.2
echo node > node_modules/$name/bin/node
`;

const system = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
const name = `${system}-${process.platform}-${process.arch}`;
let root: string;
beforeEach(() => {
  root = temporaryFolder();
  cpSync('services/rtr/bootstrap', join(root, 'services/rtr/bootstrap'), { recursive: true });
  cpSync('shared/core', join(root, 'shared/core'), { recursive: true, filter: (file) => !file.endsWith('.ts') });
  writeFileSync(join(root, 'package.json'), '{ "type": "module", "config": { "node": "24.0.0" } }');
  mkdirSync(join(root, 'bin'));
  writeFileSync(join(root, 'bin/npm'), npm, { mode: 0o755 });
});

/** Runs `ensureNode` on the machine's Node, and prints the program that it returns. */
function ensureNode(suffices: boolean): RunningCommand {
  const module = join(root, 'services/rtr/bootstrap/ensure-node.mjs');
  const call = `console.log(await ensureNode(${JSON.stringify(root)}, ${JSON.stringify(join(root, 'data'))}, ${suffices}))`;
  const code = `import { ensureNode } from ${JSON.stringify(module)}; ${call};`;
  const path = [join(root, 'bin'), dirname(hostNode()), '/usr/bin', '/bin'].join(delimiter);
  return runCommand(hostNode(), ['--input-type=module', '--eval', code], { cwd: root, env: { PATH: path } });
}

function listRuns(): string[] {
  return readFileSync(join(root, 'npm-runs'), 'utf8').trim().split('\n');
}

describe('the Node of an installed package', () => {
  it("is the machine's, if that is new enough", async () => {
    const run = ensureNode(true);
    await run.ended;
    expect([run.out, run.err]).toEqual([`${hostNode()}\n`, '']);
  });

  it('is fetched once, also by two starts at the same time, without its scripts and what it does not need', async () => {
    const home = join(root, 'data/node/24.0.0');
    const both = [ensureNode(false), ensureNode(false)];
    await Promise.all(both.map(({ ended }) => ended));
    expect(both.map(({ out }) => out)).toEqual(Array(2).fill(`${join(home, 'bin/node')}\n`));
    expect(listRuns()).toEqual([expect.stringMatching(`^install .*--ignore-scripts .*${name}@24\\.0\\.0 `)]);
    expect(readdirSync(home)).toEqual(['bin']);
    expect(readdirSync(dirname(home))).toEqual(['24.0.0']);
    expect(both.map(({ err }) => err).join('')).toContain(`Fetching Node 24.0.0 through npm, once (${name}`);
  });

  it('is fetched anew after a start that was stopped meanwhile', async () => {
    const program = join(root, 'data/node/24.0.0/bin/node');
    writeFileSync(join(root, 'npm-hangs'), '');
    const stopped = ensureNode(false);
    await until(() => expect(existsSync(join(root, `data/node/24.0.0.new/node_modules/${name}/bin/node`))).toBe(true));
    stopped.child.kill('SIGINT');
    await stopped.ended;
    expect(stopped.err).toContain('The installation was stopped.');
    expect(existsSync(program)).toBe(false);
    writeFileSync(join(root, 'bin/npm'), npm.replace('npm-hangs', 'gone'), { mode: 0o755 });
    expect(await ensureNode(false).ended).toBe(0);
    expect(readFileSync(program, 'utf8')).toBe('node\n');
  });
});
