import { emptyIngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { Failure, LiveWorkerFacts, WorkersChange } from '#services/console/contract/live.ts';
import { BoundedResponse } from '#services/ingress/http/unread/bounded-response.ts';
import { UnreadOutputs } from '#services/ingress/http/unread/unread-outputs.ts';
import { LiveFeed } from '#services/console/live/live-feed.ts';
import type { Viewer } from '#services/console/live/visible-failures.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';
import { startUnreadClient } from '../../../helpers/clients/start-unread-client.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';
import { applyWorkersChange } from '#services/console/web/api/live-workers.ts';

const noWorkers = { workers: () => [], pools: () => [] } as unknown as LiveWorkers;
const models = [{ id: 'demo', capabilities: [] }];
const ada: Viewer = { userId: 'ada', isAdmin: false };

it('a closed live feed ends the open streams, and those of pages that connect again', async () => {
  const feed = new LiveFeed(
    noWorkers,
    () => [],
    (response) => response,
  );
  onTestFinished(() => feed.close());
  const url = await serveInTest((_, response) =>
    feed.open({ response, takesChanges: false, viewer: ada, findCurrentViewer: async () => ada }),
  );
  const first = await fetch(url);
  feed.close();
  expect(await first.text()).toContain('event: workers');
  expect(await (await fetch(url)).text()).toBe('retry: 1000\n\n');
});

it('a page whose session has ended is sent nothing more, even when it has not read the earlier events', async () => {
  let reads = 0;
  const feed = openStill(() => ({ activeStreams: (reads += 1) }));
  // Without a connection everything that is written waits, as when the other side does not read.
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const errors: Error[] = [];
  response.on('error', (error) => void errors.push(error));
  feed.open({ response, takesChanges: false, viewer: ada, findCurrentViewer: async () => undefined });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(response.writableEnded).toBe(true);
  expect(errors).toEqual([]);
  expect(reads).toBeLessThan(9);
});

it('pages that do not read are bounded in sum with all other output that nobody reads', async () => {
  const long = Array.from({ length: 7_000 }, (_, at) => ({ id: `${'x'.repeat(1_000)}${at}`, capabilities: [] }));
  const pools = [livePool({ tier: 'gpu', pool: 'p', models: long }, [{ id: 'a' }])];
  const workers = { workers: () => pools.flatMap((pool) => [...pool.workers]), pools: () => pools };
  const outputs = new UnreadOutputs(12 * 1024 * 1024);
  const feed = new LiveFeed(
    workers as unknown as LiveWorkers,
    () => [],
    (response) => new BoundedResponse(response, outputs, () => response.destroy()),
  );
  onTestFinished(() => feed.close());
  for (let page = 0; page < 8; page += 1) {
    const { response } = await startUnreadClient();
    const viewing = { session: `${page}`, takesChanges: true, viewer: ada, findCurrentViewer: async () => ada };
    feed.open({ response, ...viewing });
  }
  expect(outputs.givenUp).toBeGreaterThanOrEqual(4);
  expect(outputs.bytes).toBeLessThanOrEqual(12 * 1024 * 1024);
});

type Sent = { event: string; data: unknown }[];

/** Opens a page of a feed, which shows what was sent. */
function openPage(feed: LiveFeed, viewer: Viewer, { later = viewer, takesChanges = false } = {}) {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const all: Sent = [];
  const onEvent = ({ event = '', data }: EventSourceMessage) => void all.push({ event, data: JSON.parse(data) });
  const parser = createParser({ onEvent });
  response.write = (text: string) => (parser.feed(text), true);
  feed.open({ response, takesChanges, viewer, findCurrentViewer: async () => later });
  const sent = <T>(kind: string) => all.filter(({ event }) => event === kind).map(({ data }) => data as T);
  const requestIds = () => (sent<Failure[]>('failures').at(-1) ?? []).map(({ requestId }) => requestId);
  return { all, sent, requestIds };
}

/** A feed, and a clock that only the test moves. */
function openStill(read: () => Partial<IngressStats>, workers = noWorkers): LiveFeed {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const feed = new LiveFeed(
    workers,
    () => [{ ...emptyIngressStats, ...read() }],
    (response) => response,
  );
  onTestFinished(() => feed.close());
  return feed;
}

const carol: Viewer = { userId: 'carol', isAdmin: false };
const root: Viewer = { userId: 'root', isAdmin: true };

describe('the failures in a live feed', () => {
  const failure = { code: 'upstream_failed', worker: 'w1' };
  const failures = [
    { ...failure, at: 3, requestId: 'r0', userId: 'ada' },
    { ...failure, at: 2, requestId: 'r1', userId: 'bob' },
    { ...failure, at: 1, requestId: 'r2' },
  ];

  it('are everybody’s for an administrator, and only their own for a member', () => {
    const feed = openStill(() => ({ failures }));
    expect(openPage(feed, root).requestIds()).toEqual(['r0', 'r1', 'r2']);
    expect(openPage(feed, ada).sent('failures')).toEqual([[{ ...failure, at: 3, requestId: 'r0' }]]);
    expect(openPage(feed, carol).requestIds()).toEqual([]);
  });

  it('are sent again only to viewers for whom they have changed', async () => {
    let now: IngressStats['failures'] = [];
    const feed = openStill(() => ({ failures: now }));
    const [own, other] = [openPage(feed, ada), openPage(feed, carol)];
    now = failures;
    await vi.advanceTimersByTimeAsync(3_000);
    expect([own, other].map(({ sent }) => sent('failures').length)).toEqual([2, 1]);
    expect(own.requestIds()).toEqual(['r0']);
  });

  it('of others, and refused requests, are removed from the page of an administrator who has become a member', async () => {
    const refused = [{ code: 'rate_limit_exceeded', minute: 1, hour: 2 }];
    const feed = openStill(() => ({ failures, refused }));
    const [asAdmin, asMember] = [openPage(feed, root), openPage(feed, ada)];
    const demoted = openPage(feed, { ...ada, isAdmin: true }, { later: ada });
    expect(demoted.requestIds()).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(demoted.requestIds()).toEqual(['r0']);
    const sent = [asAdmin, asMember, demoted].map((page) => page.sent('refused'));
    expect(sent).toEqual([[refused], [[]], [refused, []]]);
  });
});

it('the workers in a live feed are sent in full at first, and then only the changed ones', async () => {
  const pools = [livePool({ tier: 'gpu', pool: 'p', models }, [{ id: 'a' }, { id: 'b' }, { id: 'c' }])];
  const all = (): LiveWorker[] => pools.flatMap((pool) => [...pool.workers]);
  const feed = openStill(() => ({}), { workers: all, pools: () => pools } as unknown as LiveWorkers);
  const open = (takesChanges: boolean) => {
    const page = openPage(feed, ada, { takesChanges });
    const ofWorkers = () => page.all.filter(({ event }) => event.startsWith('workers'));
    const shown = () =>
      ofWorkers().reduce<LiveWorkerFacts[]>(
        (before, { event, data }) =>
          event === 'workers' ? (data as LiveWorkerFacts[]) : applyWorkersChange(before, data as WorkersChange),
        [],
      );
    return {
      sent: () => ofWorkers().map(({ event }) => event),
      busy: () => Object.fromEntries(shown().map(({ id, busy }) => [id, busy])),
    };
  };
  const setBusy = (name: string, busy: number): void => {
    for (const worker of all()) {
      if (worker.id !== name) continue;
      worker.recordHeartbeat(busy);
      worker.restartSilence(1e9);
    }
  };
  for (const worker of all()) worker.restartSilence(1e9);
  const [page, older] = [open(true), open(false)];
  await vi.advanceTimersByTimeAsync(1_000);
  setBusy('b', 1);
  // A worker that changed and changed back between two ticks is not sent.
  const late = open(true);
  expect(late.busy()).toEqual({ a: 0, b: 0, c: 0 });
  setBusy('b', 0);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([page, older, late].map(({ sent }) => sent())).toEqual([['workers'], ['workers'], ['workers']]);
  setBusy('c', 2);
  for (const pool of pools) for (const worker of pool.workers) if (worker.id === 'a') pool.workers.delete(worker);
  await vi.advanceTimersByTimeAsync(3_000);
  for (const each of [page, older, late]) expect(each.busy()).toEqual({ b: 0, c: 2 });
  expect(page.sent()).toEqual(['workers', 'workers-changed']);
  expect(older.sent()).toEqual(['workers', 'workers']);
});
