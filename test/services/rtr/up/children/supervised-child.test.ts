import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { spawnGuarded, type Child } from '#services/rtr/up/children/child.ts';
import { SupervisedChild } from '#services/rtr/up/children/supervised-child.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';
import { until } from '../../../../helpers/until.ts';

describe('a supervised child', () => {
  it('is restarted when it ends unexpectedly', async () => {
    const { child, troubles, starts } = await supervise('sleep 60');
    const first = child.pid;
    child.kill();
    await until(() => child.pid !== undefined && child.pid !== first);
    expect(starts()).toBe(2);
    expect(troubles).toEqual(['it was ended by SIGKILL: it is started again in 0.005 s']);
  });

  it('is given up after six ends in a row', async () => {
    const { child, troubles, starts, givenUp } = await supervise('exit 3');
    await until(givenUp);
    expect(starts()).toBe(6);
    expect(child.isActive).toBe(false);
    expect(troubles.at(-1)).toBe('it ended with exit code 3, 6 times in a row: it is not started again');
  });

  it('is given up at once, with its own message, when it ends because of an invalid setting', async () => {
    const { starts, reasons } = await supervise('echo "LOG_LEVEL is not valid" >&2; exit 78');
    await until(() => reasons.length > 0);
    expect(starts()).toBe(1);
    expect(reasons).toEqual(['it cannot be started with these settings: LOG_LEVEL is not valid']);
  });

  it('is given up when its program does not exist', async () => {
    const { troubles, givenUp } = await supervise('', '/no/such/program');
    await until(givenUp);
    expect(troubles[0]).toContain('it could not be started');
  });

  it('stays stopped, and is killed when it ignores SIGTERM', async () => {
    const { child, starts } = await supervise("trap '' TERM; while :; do sleep 0.1; done");
    await child.stop(200);
    expect(child.pid).toBeUndefined();
    expect(starts()).toBe(1);
  });

  it('is stopped at once while its restart waits for the program to be ready', async () => {
    let isFirst = true;
    const { child, starts } = await supervise('sleep 60', '/bin/sh', async (_, stop) => {
      if (!isFirst) await once(stop, 'abort');
      isFirst = false;
    });
    child.kill();
    await until(() => starts() === 2);
    await child.stop(5_000);
    expect(child.pid).toBeUndefined();
    expect(child.isActive).toBe(false);
  });

  it('is stopped with its whole time to end when it is being started again', async () => {
    const file = join(temporaryFolder(), 'ended');
    const script = `trap 'sleep 0.3; echo saved > ${file}; exit 0' TERM; echo ready; while :; do sleep 0.05; done`;
    let begin = (): void => {};
    let isAllowed = Promise.resolve();
    const { child, starts } = await supervise(script, '/bin/sh', async (started) => {
      await once(started.stdout, 'data');
      await isAllowed;
    });
    isAllowed = new Promise((resolve) => (begin = resolve));
    child.kill();
    await until(() => starts() === 2);
    const stopped = child.stop(5_000);
    begin();
    await stopped;
    expect(child.pid).toBeUndefined();
    expect(readFileSync(file, 'utf8')).toBe('saved\n');
  });
});

async function supervise(
  script: string,
  program = '/bin/sh',
  waitUntilReady: (started: Child, stop: AbortSignal) => Promise<void> = () => Promise.resolve(),
) {
  const troubles: string[] = [];
  let starts = 0;
  const reasons: string[] = [];
  const child = await SupervisedChild.start({
    name: 'it',
    start: async (stop) => {
      starts += 1;
      const started = spawnGuarded(program, ['-c', script]);
      started.on('error', () => {});
      await waitUntilReady(started, stop);
      return started;
    },
    onUnexpectedEnd: (sentence) => troubles.push(sentence),
    onGiveUp: (reason) => reasons.push(reason),
    onChange: () => {},
    pauseMs: 5,
  });
  onTestFinished(() => child.stop(0));
  return { child, troubles, reasons, starts: () => starts, givenUp: () => reasons.length > 0 };
}
