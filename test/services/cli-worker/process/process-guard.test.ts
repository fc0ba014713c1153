import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { ProcessGuard } from '#services/cli-worker/process/process-guard.ts';
import { until } from '../../../helpers/until.ts';
import { startProcess } from '../../../helpers/processes/start-process.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

const path = process.env['PATH'] ?? '';

/** Returns the processes of a group that still run. */
function membersOf(group: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) /s, '');
      const [state, , itsGroup] = stat.split(' ');
      return Number(itsGroup) === group && state !== 'Z' ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** The different shells of this machine: `sh` is another one on each system. */
const found = spawnSync('/bin/sh', ['-c', 'for name in sh dash bash; do command -v $name; done'], { encoding: 'utf8' })
  .stdout.trim()
  .split('\n');
const shells = [...new Set(found.map((shell) => realpathSync(shell)))];

let folder: string;
/** The groups that a failed test would leave behind. */
const started: number[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  for (const group of started.splice(0)) if (membersOf(group).length > 0) process.kill(-group, 'SIGKILL');
});

/** @param shell runs the guard under the name `sh`: under its own name, bash reads the user's settings */
async function startGuarded(shell: string, guardPath = path, ...further: string[]) {
  const sh = join(temporaryFolder(), 'sh');
  symlinkSync(shell, sh);
  const worker = startProcess('test/helpers/clis/guarded-worker.ts', {}, [sh, folder, guardPath, ...further]);
  const group = Number((await worker.line('started'))['group']);
  started.push(group);
  return { worker, group };
}

describe('the guard of a killed worker', { tags: ['linux'] }, () => {
  it.each(shells)('ends a CLI with everything that it has started, and removes its files, under %s', async (shell) => {
    const { worker, group } = await startGuarded(shell);
    writeFileSync(join(folder, 'file'), '');
    await until(() => membersOf(group).length === 4);
    await worker.kill();
    await until(() => membersOf(group).length === 0 && !existsSync(folder));
    expect(worker.lines.map(({ msg }) => msg)).toEqual(['started']);
  });

  it.each(shells)('reports its failures on the standard error of the worker, under %s', async (shell) => {
    const { worker, group } = await startGuarded(shell, '/nonexistent', 'NaN');
    await worker.kill();
    const errors = (): string => worker.lines.map(({ msg }) => msg).join('\n');
    await until(() => /rm: .*(not found|No such file)/.test(errors()));
    expect(errors()).toContain('the process guard cannot kill group NaN: ');
    await until(() => membersOf(group).length === 0);
  });

  it('does not touch a group that was removed from its list', async () => {
    const { worker, group } = await startGuarded('/bin/sh');
    const second = new ProcessGuard(join(folder, 'none'), path);
    for (const id of [999_999_999, group, 999_999_998]) second.add(id);
    second.remove(group);
    await second.close();
    expect(membersOf(group).length).toBeGreaterThan(0);
    await worker.kill();
  });

  it('ends the processes of the real worker', async () => {
    const worker = startProcess('services/cli-worker/main.ts', {
      NATS_URL: inject('natsUrl'),
      RTR_PREFIX: 'guard-test',
      CLI_KIND: 'command',
      CLI_COMMAND: `sh -c "trap '' TERM; pwd > ${folder}/$$; sleep 600 & wait"`,
      CLI_MODELS: 'm1',
      SLOTS: '2',
    });
    const groups = (): number[] => readdirSync(folder).map(Number);
    await until(() => groups().length === 2 && groups().every((each) => membersOf(each).length === 2));
    started.push(...groups());
    const homes = groups().map((each) => readFileSync(join(folder, String(each)), 'utf8').trim());
    for (const home of homes) expect(home).toContain('/rtr-cli-');
    await worker.kill();
    await until(() => groups().every((each) => membersOf(each).length === 0) && !homes.some(existsSync));
  });
});
