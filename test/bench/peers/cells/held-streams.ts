import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadOrder, LoadResult } from '../../load/load.ts';
import { treeUsage } from '../systems/process-tree.ts';
import type { System, SystemKind } from '../systems/system.ts';
import { modelOf } from '../upstream/scenarios.ts';
import { measureFresh, rotated, type Cell, type PeerBench } from './cell.ts';
import { requestBody } from './request-body.ts';

const name = 'held-streams';
const title = 'Slow streams held at once';
const route = { client: 'chat', upstream: 'chat' } as const;

/** Files that a process opens besides the sockets of streams. */
const otherFiles = 200;
/** Time for timers and buffers of what just happened to go. */
const settleMs = 3_000;
/** Memory that changes by less than this part in that time is steady; waited for at most so many times. */
const steady = 0.01;
const settleTimes = 10;
/** Addresses of this machine from which streams are opened, so that no pair of addresses runs out of ports. */
const sources = 8;

/** Memory of a stream that is open and says little: in a system that was started for it, so that no memory was there before. */
export const heldStreams: Cell = {
  name,
  title,
  fresh: true,
  measure(bench, round) {
    const kinds = bench.kinds.filter((kind) => kind.name !== 'direct');
    const streamsOf = ({ socketsPerStream }: SystemKind): number =>
      Math.min(bench.plan.heldStreams, Math.floor((maxFiles() - otherFiles) / socketsPerStream));
    return measureFresh(
      bench,
      { name, title },
      rotated(kinds, round),
      (kind) => ({ upstreams: [bench.upstreamPort], streams: streamsOf(kind) }),
      (kind, system) => measureOne(bench, kind, system, streamsOf(kind)),
    );
  },
};

async function measureOne(bench: PeerBench, kind: SystemKind, system: System, streams: number): Promise<void> {
  const target = await system.target(route, 'unlimited');
  if (!target) return;
  const ask = (order: LoadOrder): Promise<LoadResult> => bench.generator.ask<LoadResult>(order);
  const bodyOf = (scenario: 'bench-short' | 'bench-slow'): string =>
    requestBody('chat', 'everyday', modelOf(scenario, 'chat'), true);
  // Code gets compiled, and first buffers are no stream's cost.
  await ask({
    kind: 'run',
    target,
    connections: 64,
    bodies: [bodyOf('bench-short')],
    seconds: bench.plan.warmUpSeconds,
    requests: Number.POSITIVE_INFINITY,
    rampSeconds: 0,
    timeoutMs: 30_000,
  });
  const before = await steadyMemory(system);
  const opened = await ask({
    kind: 'open',
    target,
    connections: streams,
    body: bodyOf('bench-slow'),
    seconds: bench.plan.openSeconds,
    sources,
  });
  const after = await steadyMemory(system);
  const { requests: held } = await ask({ kind: 'close' });
  const values = { held, openedPerSecond: opened.requests / opened.seconds };
  // Memory that the system gives back meanwhile hides what the streams take.
  if (after <= before) bench.recorder.add({ name, title }, kind.name, values, { ...opened.failures, 'memory fell': 1 });
  else {
    const kibPerStream = (after - before) / 1024 / held;
    bench.recorder.add({ name, title }, kind.name, { ...values, kibPerStream }, opened.failures);
  }
}

/** Resident bytes of a system once they hardly change: one that has just started gives some back. */
async function steadyMemory(system: System): Promise<number> {
  let last = treeUsage(system.roots()).rssBytes;
  for (let time = 0; time < settleTimes; time += 1) {
    await sleep(settleMs);
    const now = treeUsage(system.roots()).rssBytes;
    if (Math.abs(now - last) < steady * now) return now;
    last = now;
  }
  return last;
}

/** Files that a process of this machine may have open: see proc_pid_limits(5). */
function maxFiles(): number {
  return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]);
}
