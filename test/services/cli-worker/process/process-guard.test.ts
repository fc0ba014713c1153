import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, inject, it } from 'vitest';
import { isAlive } from '../../../helpers/cluster/start-cli-worker.ts';
import { until } from '../../../helpers/cluster/start-cluster.ts';
import { startProcess } from '../../../helpers/processes/start-process.ts';

/** Processes that were started in a folder of this worker's, and their folders. */
function fakesOf(parent: number | undefined): { pid: number; cwd: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      const cwd = readlinkSync(`/proc/${name}/cwd`);
      return Number(stat[1]) === parent && cwd.includes('/rtr-cli-') ? [{ pid: Number(name), cwd }] : [];
    } catch {
      return [];
    }
  });
}

describe.skipIf(process.platform !== 'linux')('a worker that is killed', () => {
  it('leaves no process and no folder behind', async () => {
    const worker = startProcess('services/cli-worker/main.ts', {
      NATS_URL: inject('natsUrl'),
      RTR_PREFIX: 'guard-test',
      CLI_KIND: 'claude',
      CLI_COMMAND: `${process.cwd()}/test/helpers/clis/fake-claude.ts`,
      CLI_MODELS: 'm1',
      SLOTS: '2',
    });
    await worker.line('worker started');
    await until(() => fakesOf(worker.child.pid).length === 2);
    const fakes = fakesOf(worker.child.pid);
    await worker.kill();
    await until(() => fakes.every(({ pid, cwd }) => !isAlive(pid) && !existsSync(cwd)));
    expect(fakes).toHaveLength(2);
  });
});
