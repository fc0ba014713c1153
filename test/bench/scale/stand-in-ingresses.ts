import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import {
  emptyIngressStats,
  onIngressStats,
  publishIngressStats,
  type IngressStats,
} from '#shared/broker/contract/ingress-stats.ts';
import { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { countWaitingByLane, countWaitingByTier } from '#shared/broker/dispatch/waiting-counts.ts';
import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { FreedSlotDelay } from '#shared/broker/dispatch/workers/freed-slot-delay.ts';
import { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { createLog } from '#shared/core/log.ts';
import { everydayMessages } from '../peers/cells/request-body.ts';
import { askedModel, maxTickets, takeOrders, type IngressesAnswer, type IngressesOrder } from './orders.ts';

/*
 * Stands in for many ingress nodes, in one process: each has the router's own dispatcher on a connection of its own, and publishes stats.
 * There is no HTTP, no store and no client.
 */

const log = createLog({ service: 'stand-in-ingresses', level: 'fatal', format: 'json' });

interface Ingress {
  workers: LiveWorkers;
  dispatcher: Dispatcher;
  jobs: Set<Job>;
}

const ingresses: Ingress[] = [];
/** A body that the real worker can also pass on. */
const body = Buffer.from(JSON.stringify({ model: askedModel, messages: everydayMessages }));
let sent = 0;

takeOrders(log, obey);

async function obey(order: IngressesOrder): Promise<IngressesAnswer> {
  const answer: IngressesAnswer = { sent: 0, done: 0, failed: {}, routeMs: [], workers: 0 };
  if (order.kind === 'start') await start(order);
  if (order.kind === 'load') await load(order, answer);
  if (order.kind === 'queue') await fillQueue(order, answer);
  answer.workers = Math.min(...ingresses.map(({ workers }) => [...workers.workers()].length));
  return answer;
}

type Order<Kind extends IngressesOrder['kind']> = Extract<IngressesOrder, { kind: Kind }>;

const [minuteMs, longMs] = [60_000, 600_000];
const waits = { queueMs: longMs, noWorkerMs: longMs, totalMs: longMs, brokerMs: minuteMs };
const settings = {
  timeouts: { ...waits, firstTokenMs: minuteMs, idleMs: minuteMs, silenceMs: 10_000 },
  queue: { maxQueued: maxTickets, maxAgeMs: longMs },
  overflowMs: 500,
  keepAliveMs: 10_000,
  maxAttempts: 3,
};

async function start({ natsUrl, prefix, count }: Order<'start'>): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    const id = randomUUID().slice(0, 12);
    const broker = await connectBroker({ url: natsUrl, name: `ingress-${id}`, prefix, log });
    const workers = new LiveWorkers(broker, log);
    const dispatcher = new Dispatcher(broker, workers, { ingress: id, ...settings }, log);
    await dispatcher.prepare();
    void workers.requestAnnouncements();
    const jobs = new Set<Job>();
    const freedSlotDelay = new FreedSlotDelay(broker, id, workers);
    onIngressStats(broker, (from) => freedSlotDelay.onStats(from));
    setInterval(() => publishIngressStats(broker, id, statsOf(jobs)), 1_000);
    ingresses.push({ workers, dispatcher, jobs });
  }
}

function statsOf(jobs: ReadonlySet<Job>): IngressStats {
  return {
    ...emptyIngressStats,
    at: Date.now(),
    lanes: countWaitingByLane(jobs).map(({ tier, pool, class: name, waiting }) => ({
      tier,
      pool,
      class: name,
      waiting,
    })),
    waitingByTier: countWaitingByTier(jobs),
  };
}

async function load({ perSecond, seconds }: Order<'load'>, answer: IngressesAnswer): Promise<void> {
  const begin = performance.now();
  const ending: Promise<void>[] = [];
  while (performance.now() - begin < seconds * 1_000) {
    const due = ((performance.now() - begin) / 1_000) * perSecond;
    while (answer.sent < due) ending.push(send(answer));
    await sleep(5);
  }
  const late = sleep(5_000, undefined, { ref: false });
  await Promise.race([Promise.all(ending), late]);
  cancelAll();
  await Promise.all(ending);
}

async function fillQueue({ count, seconds }: Order<'queue'>, answer: IngressesAnswer): Promise<void> {
  const ending: Promise<void>[] = [];
  while (answer.sent < count) {
    for (let at = 0; at < 200; at += 1) ending.push(send(answer));
    await sleep(5);
  }
  await sleep(seconds * 1_000);
  cancelAll();
  await Promise.all(ending);
}

function cancelAll(): void {
  for (const { dispatcher, jobs } of ingresses) for (const job of jobs) dispatcher.cancel(job);
}

async function send(answer: IngressesAnswer): Promise<void> {
  answer.sent += 1;
  sent += 1;
  const ingress = ingresses[sent % ingresses.length];
  if (!ingress) return;
  const { dispatcher, workers, jobs } = ingress;
  const request: JobRequest = {
    requestId: `req-${sent}`,
    operation: 'generate',
    format: 'chat',
    stream: false,
    class: 'normal',
    sender: { owner: `owner-${sent % 100}`, key: `key-${sent % 100}` },
    findPlacements: (avoid) => everyPool(workers, avoid),
    tiers: () => ['gpu'],
  };
  const none = (): void => undefined;
  const job = dispatcher.dispatch(request, body, { begin: none, data: none, keepAlive: none, end: none, fail: none });
  jobs.add(job);
  const { state, error, queuedAt, claimedAt } = await job.finished;
  jobs.delete(job);
  if (state === 'done') answer.done += 1;
  if (state === 'failed') answer.failed[error?.code ?? ''] = (answer.failed[error?.code ?? ''] ?? 0) + 1;
  if (claimedAt !== undefined) answer.routeMs.push(claimedAt - queuedAt);
}

function everyPool(workers: LiveWorkers, avoid: ReadonlySet<string>): Placement[] {
  const placements: Placement[] = [];
  for (const pool of workers.pools()) {
    for (const { id, announcement } of pool.workers) {
      if (!announcement.accepting || avoid.has(id)) continue;
      placements.push({ pool, model: askedModel });
      break;
    }
  }
  return placements;
}
