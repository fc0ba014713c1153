import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, inject, it, type TestContext } from 'vitest';
import { connectBroker, type Broker } from '#shared/broker/connection/connect-broker.ts';
import { ClosedConnections } from '#shared/broker/dispatch/deaths/closed-connections.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { livePool } from '../../../../helpers/broker/live-pool.ts';
import { tapBroker } from '../../../../helpers/broker/tapped-broker.ts';
import { least } from '../../../../helpers/least.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';
import { until } from '../../../../helpers/until.ts';

let ingress: Broker;
let others: Broker;

beforeAll(async () => {
  const prefix = `t${randomBytes(6).toString('hex')}`;
  const settings = { url: inject('natsUrl'), name: 'test', prefix, log: silentLog };
  [ingress, others] = await Promise.all([connectBroker(settings), connectBroker(settings)]);
  // The connection is old.
  await until(() => performance.now() - ingress.connectedSince > 2_000);
});

afterAll(() => Promise.all([ingress.close(), others.close()]));

/** Workers with jobs whose last frame is old. `join` connects one. */
function watch({ onTestFinished }: TestContext, count: number) {
  const ids = Array.from({ length: count }, () => ({ id: `w${randomBytes(4).toString('hex')}` }));
  const workers = [...livePool({ tier: 'gpu', pool: 'p' }, ids).workers];
  const { broker, onReceive } = tapBroker(ingress);
  const closed = new ClosedConnections(broker);
  const startedAt = performance.now();
  const closedAfter = new Map<LiveWorker, number>();
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const worker of workers)
      if (closed.isClosed(worker, 0, now) && !closedAfter.has(worker)) closedAfter.set(worker, now - startedAt);
  }, 100);
  onTestFinished(() => {
    clearInterval(sweep);
    closed.close();
  });
  const join = (worker: LiveWorker | undefined): Promise<void> => {
    others.subscribe(others.subjects.cancel(made(worker).address), () => undefined);
    return others.flush();
  };
  const after = (ms: number): Promise<void> => until(() => performance.now() - startedAt >= ms);
  return { workers, closedAfter, join, after, onReceive };
}

describe.concurrent('the connection of a worker with jobs', () => {
  it('counts as closed within two thirds of a second if it is the only one', async (context) => {
    const find = async (): Promise<number> => {
      const { workers, closedAfter, join, after } = watch(context, 2);
      const [dead, alive] = workers;
      await join(alive);
      await until(() => closedAfter.size > 0);
      await after(1_000);
      context.expect([...closedAfter.keys()]).toEqual([dead]);
      return Math.max(...closedAfter.values());
    };
    context.expect(await least(find, 667)).toBeLessThan(667);
  });

  it('counts as closed later if other connections closed with it, because they may have lost their server', async (context) => {
    const find = async (): Promise<number> => {
      const { workers, closedAfter } = watch(context, 3);
      await until(() => closedAfter.size === workers.length);
      context.expect(Math.min(...closedAfter.values())).toBeGreaterThanOrEqual(500);
      return Math.max(...closedAfter.values());
    };
    context.expect(await least(find, 1_000)).toBeLessThan(1_000);
  });

  it('does not count as closed if the worker reconnected at once', async (context) => {
    const { workers, closedAfter, join, after, onReceive } = watch(context, 1);
    let joined: Promise<void> | undefined;
    onReceive((message, receive) => {
      receive(message);
      joined ??= join(workers[0]);
    });
    await until(() => joined !== undefined);
    await after(1_000);
    context.expect(closedAfter.size).toBe(0);
  });
});

it('costs no timer while a worker is connected', async (context) => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const { workers, closedAfter, join, after } = watch(context, 50);
  const before = timers();
  await Promise.all(workers.map(join));
  let most = 0;
  const watching = setInterval(() => (most = Math.max(most, timers() - before)), 20);
  await after(1_000);
  clearInterval(watching);
  context.expect(most).toBeLessThan(20);
  context.expect(closedAfter.size).toBe(0);
});

it('a connection does not count as closed because its dispatcher was blocked between two reports', async (context) => {
  const [worker] = livePool({ tier: 'gpu', pool: 'p' }, [{ id: `w${randomBytes(4).toString('hex')}` }]).workers;
  const closed = new ClosedConnections(ingress);
  context.onTestFinished(() => closed.close());
  const check = async (blockedMs: number): Promise<boolean> => {
    const asked = performance.now();
    const isClosed = closed.isClosed(made(worker), 0, asked);
    while (performance.now() - asked < blockedMs);
    await ingress.flush();
    return isClosed;
  };
  await check(0);
  await check(400);
  context.expect(await check(0)).toBe(false);
});
