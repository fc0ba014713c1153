import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/core/log.ts';
import { SessionPool } from '#services/cli-worker/pool/session-pool.ts';
import type { LiveSession } from '#services/cli-worker/pool/live-session.ts';
import { CliProcess } from '#services/cli-worker/process/cli-process.ts';
import { ProcessGuard } from '#services/cli-worker/process/process-guard.ts';
import { until } from '../../../helpers/until.ts';

const signal = new AbortController().signal;
let pool: SessionPool;
afterEach(() => pool.close());

interface TestPoolOptions {
  size: number;
  singleUse: boolean;
  recycleAfter?: number;
  recycleBytes?: number;
  /** Comes before each start, counted from 1; what it rejects with, the start fails with. */
  beforeStart?: (nth: number) => Promise<void>;
}

/** A pool of real processes that do nothing, and the ids of those that live. */
function openPool({ beforeStart = () => Promise.resolve(), ...options }: TestPoolOptions) {
  const guard = new ProcessGuard('/nonexistent', process.env['PATH']);
  const alive = new Set<number>();
  let starts = 0;
  const start = async (): Promise<LiveSession> => {
    starts += 1;
    await beforeStart(starts);
    const cat = new CliProcess({
      command: 'cat',
      args: [],
      cwd: '/',
      environment: { PATH: process.env['PATH'] ?? '' },
      guard,
    });
    const { pid = 0 } = cat;
    alive.add(pid);
    void cat.ended.then(() => alive.delete(pid));
    const session = { process: cat, converse: () => Promise.reject(new Error('nobody talks here')) };
    return { session, close: () => cat.end() };
  };
  const log = createLog({ service: 'test', level: 'silent', format: 'json' });
  pool = new SessionPool({
    recycleAfter: 100,
    recycleBytes: 2 ** 40,
    ...options,
    start,
    log,
    onHealth: () => undefined,
  });
  return alive;
}

async function use(endedWell = true): Promise<number | undefined> {
  const lease = await pool.take(signal);
  const { pid } = lease.session.process;
  lease.release(endedWell);
  return pid;
}

describe('a pool of sessions', () => {
  it('has as many processes ready as there may be conversations, and no more', async () => {
    const alive = openPool({ size: 3, singleUse: false });
    await until(() => pool.ready === 3);
    const leases = await Promise.all([1, 2, 3].map(() => pool.take(signal)));
    expect(new Set(leases.map(({ session }) => session.process.pid)).size).toBe(3);
    const waiting = pool.take(signal);
    leases[0]?.release(true);
    expect((await waiting).session).toBe(leases[0]?.session);
    expect(alive.size).toBe(3);
  });

  it('uses a process again, until it has served its time', async () => {
    openPool({ size: 1, singleUse: false, recycleAfter: 2 });
    const first = await use();
    expect(await use()).toBe(first);
    expect(await use()).not.toBe(first);
  });

  it('never uses a process again that serves one conversation, and has the next one ready before that ends', async () => {
    const alive = openPool({ size: 1, singleUse: true });
    const lease = await pool.take(signal);
    lease.begun();
    await until(() => pool.ready === 1);
    expect(alive.size).toBe(2);
    lease.release(true);
    expect(await use()).not.toBe(lease.session.process.pid);
    await until(() => pool.ready === 1 && alive.size === 1);
  });

  it('replaces a process whose conversation failed, or that holds too much memory', async () => {
    openPool({ size: 1, singleUse: false });
    const first = await use(false);
    expect(await use()).not.toBe(first);
    await pool.close();
    openPool({ size: 1, singleUse: false, recycleBytes: 1 });
    expect(await use()).not.toBe(await use());
  });

  it('replaces a process that ends while it waits', async () => {
    openPool({ size: 1, singleUse: false });
    await until(() => pool.ready === 1);
    const lease = await pool.take(signal);
    const { pid = 0 } = lease.session.process;
    lease.release(true);
    await until(() => pool.ready === 1);
    process.kill(pid, 'SIGKILL');
    await until(() => pool.ready === 0);
    expect(await use()).not.toBe(pid);
  });

  it('serves who waits with the next process when one that stood ready and one that started end together', async () => {
    const third = Promise.withResolvers<void>();
    const alive = openPool({
      size: 2,
      singleUse: true,
      beforeStart: (nth) => (nth === 3 ? third.promise : Promise.resolve()),
    });
    await until(() => pool.ready === 2);
    const held = await pool.take(signal);
    held.begun();
    expect(pool.counts).toEqual({ ready: 1, held: 1, starting: 1 });
    for (const pid of alive) if (pid !== held.session.process.pid) process.kill(pid, 'SIGKILL');
    await until(() => pool.ready === 0);
    const waiting = pool.take(signal);
    third.reject(new Error('it was killed'));
    expect((await waiting).session.process.isRunning).toBe(true);
  });

  it('refuses who waits when two starts in a row fail', async () => {
    openPool({ size: 2, singleUse: false, beforeStart: (nth) => Promise.reject(new Error(`start ${nth} failed`)) });
    await expect(pool.take(signal)).rejects.toThrow(/^start [34] failed$/);
  });

  it('lets a wait end with its client', async () => {
    openPool({ size: 1, singleUse: false });
    const lease = await pool.take(signal);
    const gone = new AbortController();
    const waiting = pool.take(gone.signal);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    lease.release(true);
    await until(() => pool.ready === 1);
  });
});
