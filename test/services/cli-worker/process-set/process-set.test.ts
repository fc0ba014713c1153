import { afterEach, describe, expect, it } from 'vitest';
import { ProcessSet } from '#services/cli-worker/process-set/process-set.ts';
import type { LiveSession } from '#services/cli-worker/process-set/live-session.ts';
import { CliProcess } from '#services/cli-worker/process/cli-process.ts';
import { ProcessGuard } from '#services/cli-worker/process/process-guard.ts';
import { silentLog as log } from '../../../helpers/silent-log.ts';
import { until } from '../../../helpers/until.ts';

const signal = new AbortController().signal;
/** The health that the set has reported. */
let health: boolean[];
let processes: ProcessSet<{ process: CliProcess }>;
afterEach(() => processes.close());

interface TestSetOptions {
  size: number;
  singleUse: boolean;
  recycleAfter?: number;
  recycleBytes?: number;
  /** Called before each start, counted from 1. The start waits for it, and fails with its error. */
  beforeStart?: (nth: number) => Promise<void> | void;
}

/** Opens a set of real processes that do nothing. Returns the ids of the running ones. */
function openSet({ beforeStart, ...options }: TestSetOptions) {
  health = [];
  const guard = new ProcessGuard('/nonexistent', process.env['PATH']);
  const alive = new Set<number>();
  let starts = 0;
  const start = async (): Promise<LiveSession<{ process: CliProcess }>> => {
    starts += 1;
    await beforeStart?.(starts);
    const environment = { PATH: process.env['PATH'] ?? '' };
    const cat = new CliProcess({ command: 'cat', args: [], cwd: '/', environment, guard });
    const { pid = 0 } = cat;
    alive.add(pid);
    void cat.ended.then(() => alive.delete(pid));
    return { session: { process: cat }, close: () => cat.end() };
  };
  const onHealth = (healthy: boolean): unknown => health.push(healthy);
  processes = new ProcessSet({ recycleAfter: 100, recycleBytes: 2 ** 40, ...options, start, log, onHealth });
  return alive;
}

/** Holds a conversation. Returns the id of its process. */
async function converse(endedWell = true): Promise<number> {
  const lease = await processes.take(signal);
  const { pid = 0 } = lease.session.process;
  lease.release(endedWell);
  return pid;
}

/** Fails the first starts. */
const failUpTo = (last: number) => (nth: number) => {
  if (nth <= last) throw new Error(`start ${nth} failed`);
};

describe('a process set', () => {
  it('has as many processes ready as there may be conversations, and no more', async () => {
    const alive = openSet({ size: 3, singleUse: false });
    await until(() => processes.ready === 3);
    const leases = await Promise.all([1, 2, 3].map(() => processes.take(signal)));
    expect(new Set(leases.map(({ session }) => session.process.pid)).size).toBe(3);
    const waiting = processes.take(signal);
    leases[0]?.release(true);
    expect((await waiting).session).toBe(leases[0]?.session);
    expect(alive.size).toBe(3);
  });

  it('reuses a process until its last conversation', async () => {
    openSet({ size: 1, singleUse: false, recycleAfter: 2 });
    const first = await converse();
    expect(await converse()).toBe(first);
    expect(await converse()).not.toBe(first);
  });

  it('does not reuse a single-use process, and has the next one ready before that ends', async () => {
    const alive = openSet({ size: 1, singleUse: true });
    const lease = await processes.take(signal);
    lease.begun();
    await until(() => processes.ready === 1);
    expect(alive.size).toBe(2);
    lease.release(true);
    expect(await converse()).not.toBe(lease.session.process.pid);
    await until(() => processes.ready === 1 && alive.size === 1);
  });

  it('replaces a process whose conversation failed, or that uses too much memory', async () => {
    openSet({ size: 1, singleUse: false });
    const first = await converse(false);
    expect(await converse()).not.toBe(first);
    await processes.close();
    openSet({ size: 1, singleUse: false, recycleBytes: 1 });
    expect(await converse()).not.toBe(await converse());
  });

  it('replaces a ready process that ends', async () => {
    const alive = openSet({ size: 1, singleUse: false });
    const pid = await converse();
    await until(() => processes.ready === 1);
    process.kill(pid, 'SIGKILL');
    await until(() => !alive.has(pid));
    expect(await converse()).not.toBe(pid);
  });

  it('gives a waiter the next process when a ready one and a starting one end together', async () => {
    const third = Promise.withResolvers<void>();
    const beforeStart = (nth: number) => (nth === 3 ? third.promise : undefined);
    const alive = openSet({ size: 2, singleUse: true, beforeStart });
    await until(() => processes.ready === 2);
    const held = await processes.take(signal);
    held.begun();
    expect(processes.counts).toEqual({ ready: 1, held: 1, starting: 1 });
    for (const pid of alive) if (pid !== held.session.process.pid) process.kill(pid, 'SIGKILL');
    await until(() => processes.ready === 0);
    const waiting = processes.take(signal);
    third.reject(new Error('it was killed'));
    expect((await waiting).session.process.isRunning).toBe(true);
  });

  it('refuses its waiters when two starts in a row fail', async () => {
    openSet({ size: 2, singleUse: false, beforeStart: failUpTo(Infinity) });
    await expect(processes.take(signal)).rejects.toThrow(/^start [34] failed$/);
  });

  it('ends a wait when its client leaves', async () => {
    openSet({ size: 1, singleUse: false });
    const lease = await processes.take(signal);
    const gone = new AbortController();
    const waiting = processes.take(gone.signal);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    lease.release(true);
    await until(() => processes.ready === 1);
  });

  it('reports its health when it changes, and only then', async () => {
    openSet({ size: 1, singleUse: false, beforeStart: failUpTo(2) });
    await until(() => processes.ready === 1);
    expect(health).toEqual([false, true]);
  });

  it('reports nothing after failures during which it was never unhealthy', async () => {
    const alive = openSet({ size: 1, singleUse: false, beforeStart: failUpTo(1) });
    const pid = await converse();
    process.kill(pid, 'SIGKILL');
    await until(() => !alive.has(pid) && processes.ready === 1);
    expect(health).toEqual([]);
  });
});
