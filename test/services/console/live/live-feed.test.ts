import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import { createParser } from 'eventsource-parser';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { Failure, LiveWorkerFacts, WorkersChange } from '#services/console/contract/live.ts';
import { LiveFeed } from '#services/console/live/live-feed.ts';
import { withChange } from '#services/console/web/api/with-change.ts';
import type { Viewer } from '#services/console/live/visible-failures.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';

const noWorkers = { workers: () => [], pools: () => [] } as unknown as LiveWorkers;
const models = [{ id: 'demo', capabilities: [] }];
const ada: Viewer = { userId: 'ada', isAdmin: false };

const stats: IngressStats = {
  v: 1,
  at: 0,
  requests: [],
  tokens: [],
  errors: [],
  firstToken: [],
  activeStreams: 0,
  servedByTier: {},
  lanes: [],
  failures: [],
};

async function openFeed() {
  const feed = new LiveFeed(noWorkers, () => []);
  const server = createServer((_, response) =>
    feed.open({ response, session: 's', takesChanges: false, viewer: ada, currentViewer: async () => ada }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    feed.close();
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { feed, ask: () => fetch(url, { signal: AbortSignal.timeout(2_000) }) };
}

describe('a live feed that is closed', () => {
  it('ends the streams that are open, and those of pages that come back', async () => {
    const { feed, ask } = await openFeed();
    const first = await ask();
    feed.close();
    expect(await first.text()).toContain('event: workers');
    const second = await ask();
    expect(await second.text()).toBe('retry: 1000\n\n');
  });
});

describe('a page whose session has ended', () => {
  it('is sent nothing more, even when it has not read what was sent before', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let reads = 0;
    const feed = new LiveFeed(noWorkers, () => [{ ...stats, activeStreams: (reads += 1) }]);
    onTestFinished(() => feed.close());
    // Without a connection everything that is written waits, as when the other side does not read.
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    const errors: Error[] = [];
    response.on('error', (error) => void errors.push(error));
    feed.open({ response, session: 's', takesChanges: false, viewer: ada, currentViewer: async () => undefined });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(response.writableEnded).toBe(true);
    expect(errors).toEqual([]);
    expect(reads).toBeLessThan(9);
  });
});

describe('the failures in a live feed', () => {
  const failures = ['ada', 'bob', undefined].map((userId, index) => ({
    at: 3 - index,
    requestId: `r${index}`,
    code: 'upstream_failed',
    ...(userId === undefined ? {} : { userId }),
    worker: 'w1',
  }));

  /** A page of the feed, and how often and with what it was sent failures. */
  function openPage(feed: LiveFeed, viewer: Viewer, currentViewer: () => Viewer = () => viewer) {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    const sent: Failure[][] = [];
    const parser = createParser({
      onEvent: ({ event, data }) => event === 'failures' && void sent.push(JSON.parse(data) as Failure[]),
    });
    response.write = (text: string) => (parser.feed(text), true);
    feed.open({ response, session: 's', takesChanges: false, viewer, currentViewer: async () => currentViewer() });
    return { sent, requestIds: () => sent.at(-1)?.map(({ requestId }) => requestId) };
  }

  function openFeedOf(read: () => IngressStats['failures']) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const feed = new LiveFeed(noWorkers, () => [{ ...stats, failures: read() }]);
    onTestFinished(() => feed.close());
    return feed;
  }

  it('are everybody’s for an administrator, and only their own for a member', () => {
    const feed = openFeedOf(() => failures);
    expect(openPage(feed, { userId: 'root', isAdmin: true }).requestIds()).toEqual(['r0', 'r1', 'r2']);
    const { sent } = openPage(feed, ada);
    expect(sent).toEqual([[{ at: 3, requestId: 'r0', code: 'upstream_failed', worker: 'w1' }]]);
    expect(openPage(feed, { userId: 'carol', isAdmin: false }).requestIds()).toEqual([]);
  });

  it('are sent again only to those for whom they have changed', async () => {
    let now: IngressStats['failures'] = [];
    const feed = openFeedOf(() => now);
    const [own, other] = [openPage(feed, ada), openPage(feed, { userId: 'carol', isAdmin: false })];
    now = failures;
    await vi.advanceTimersByTimeAsync(3_000);
    expect([own.sent.length, other.sent.length]).toEqual([2, 1]);
    expect(own.requestIds()).toEqual(['r0']);
  });

  it('of others leave the page of an administrator who has become a member', async () => {
    const feed = openFeedOf(() => failures);
    const { requestIds } = openPage(feed, { ...ada, isAdmin: true }, () => ada);
    expect(requestIds()).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(requestIds()).toEqual(['r0']);
  });
});

describe('the refused requests in a live feed', () => {
  it('are sent to administrators alone, and leave the page of one who has become a member', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const refused = [{ code: 'rate_limit_exceeded', minute: 1, hour: 2 }];
    const feed = new LiveFeed(noWorkers, () => [{ ...stats, refused }]);
    onTestFinished(() => feed.close());
    const open = (viewer: Viewer, later: Viewer = viewer) => {
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      const sent: unknown[] = [];
      const parser = createParser({
        onEvent: ({ event, data }) => event === 'refused' && void sent.push(JSON.parse(data)),
      });
      response.write = (text: string) => (parser.feed(text), true);
      feed.open({ response, session: 's', takesChanges: false, viewer, currentViewer: async () => later });
      return sent;
    };
    const [asAdmin, asMember] = [open({ userId: 'root', isAdmin: true }), open(ada)];
    const demoted = open({ ...ada, isAdmin: true }, ada);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([asAdmin, asMember, demoted]).toEqual([[refused], [[]], [refused, []]]);
  });
});

describe('the workers in a live feed', () => {
  it('are sent whole at once, and then those that have changed', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const pools = [livePool({ tier: 'gpu', pool: 'p', models }, [{ id: 'a' }, { id: 'b' }, { id: 'c' }])];
    const all = (): LiveWorker[] => pools.flatMap((pool) => [...pool.workers]);
    const feed = new LiveFeed({ workers: all, pools: () => pools } as unknown as LiveWorkers, () => []);
    onTestFinished(() => feed.close());
    const open = (takesChanges: boolean) => {
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      let shown: LiveWorkerFacts[] = [];
      const sent: string[] = [];
      const parser = createParser({
        onEvent: ({ event, data }) => {
          if (event === 'workers') shown = JSON.parse(data) as LiveWorkerFacts[];
          else if (event === 'workers-changed') shown = withChange(shown, JSON.parse(data) as WorkersChange);
          else return;
          sent.push(event);
        },
      });
      response.write = (text: string) => (parser.feed(text), true);
      feed.open({ response, session: 's', viewer: ada, takesChanges, currentViewer: async () => ada });
      return { sent, busy: () => Object.fromEntries(shown.map(({ id, busy }) => [id, busy])) };
    };
    const setBusy = (name: string, busy: number): void => {
      for (const worker of all()) if (worker.id === name) worker.others = busy;
    };
    for (const worker of all()) worker.lastHeartbeatAt = 1e9;
    const [page, older] = [open(true), open(false)];
    await vi.advanceTimersByTimeAsync(1_000);
    setBusy('b', 1);
    // What has changed since the last tick, and is as it was then at the next one, is nothing that follows.
    const late = open(true);
    expect(late.busy()).toEqual({ a: 0, b: 0, c: 0 });
    setBusy('b', 0);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([page, older, late].map(({ sent }) => sent)).toEqual([['workers'], ['workers'], ['workers']]);
    setBusy('c', 2);
    for (const pool of pools) for (const worker of pool.workers) if (worker.id === 'a') pool.workers.delete(worker);
    await vi.advanceTimersByTimeAsync(3_000);
    for (const each of [page, older, late]) expect(each.busy()).toEqual({ b: 0, c: 2 });
    expect(page.sent).toEqual(['workers', 'workers-changed']);
    expect(older.sent).toEqual(['workers', 'workers']);
  });
});
