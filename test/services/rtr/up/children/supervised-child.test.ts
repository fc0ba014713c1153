import { describe, expect, it, onTestFinished } from 'vitest';
import { spawnGuarded } from '#services/rtr/up/children/child.ts';
import { SupervisedChild } from '#services/rtr/up/children/supervised-child.ts';
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
});

async function supervise(script: string, program = '/bin/sh') {
  const troubles: string[] = [];
  let starts = 0;
  const reasons: string[] = [];
  const child = await SupervisedChild.start({
    name: 'it',
    start: () => {
      starts += 1;
      const started = spawnGuarded(program, ['-c', script]);
      started.on('error', () => {});
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
