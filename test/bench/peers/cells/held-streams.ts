import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadOrder, LoadResult } from '../../load/load.ts';
import { treeUsage } from '../../../helpers/processes/process-tree.ts';
import type { System, SystemKind } from '../systems/system.ts';
import { measureFresh, rotated, type Cell, type PeerBench } from './cell.ts';
import { everydayRequest } from './request-body.ts';

const name = 'held-streams';
const title = 'Slow streams held at once';
const route = { client: 'chat', upstream: 'chat' } as const;

/** Files that a process opens besides the sockets of streams. */
const otherFiles = 200;
/** Seconds of load before the first measurement, so that code is compiled and first buffers are no stream's cost. */
const warmUpSeconds = 5;
/** Milliseconds between two measurements of a system's memory, and their maximum number. */
const lookMs = 1_500;
const maxLooks = 40;
/** Memory is steady when it has changed by less than this within three measurements: bytes per stream, and in all. */
const steadyPerStream = 256;
const steadyBytes = 1024 * 1024;
/** Addresses of this machine from which streams are opened, so that no pair of addresses runs out of ports. */
const sources = 8;

/** Measures the memory of an open stream with little text, in a system that was started for it, so that no memory was there before. */
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
  await ask({
    kind: 'run',
    target,
    connections: 64,
    bodies: [everydayRequest('bench-short')],
    seconds: warmUpSeconds,
    requests: Number.POSITIVE_INFINITY,
    rampSeconds: 0,
    timeoutMs: 30_000,
  });
  const before = await steadyMemory(system, streams);
  const [body, seconds] = [everydayRequest('bench-slow'), bench.plan.openSeconds];
  const opened = await ask({ kind: 'open', target, connections: streams, body, seconds, sources });
  const after = await steadyMemory(system, streams);
  const { requests: held } = await ask({ kind: 'close' });
  const values = { held, openedPerSecond: opened.requests / opened.seconds };
  // A figure of memory that still changes would be chance: memory that the system returns meanwhile hides the memory of the streams.
  const add = (memory: { kibPerStream?: number }, failures: Record<string, number>): void =>
    bench.recorder.add({ name, title }, kind.name, { ...values, ...memory }, { ...opened.failures, ...failures });
  if (before === undefined || after === undefined) add({}, { 'memory not steady': 1 });
  else if (after <= before) add({}, { 'memory fell': 1 });
  else add({ kibPerStream: (after - before) / 1024 / held }, {});
}

/**
 * Returns the resident bytes of a system once they hardly change: a system that has just started returns some memory. Undefined if they
 * never settle.
 */
async function steadyMemory(system: System, streams: number): Promise<number | undefined> {
  const tolerance = Math.max(steadyBytes, streams * steadyPerStream);
  const seen: number[] = [];
  while (seen.length < maxLooks) {
    seen.push(treeUsage(system.roots()).rssBytes);
    const last = seen.slice(-3);
    if (last.length === 3 && Math.max(...last) - Math.min(...last) < tolerance) return last.at(-1);
    await sleep(lookMs);
  }
  return undefined;
}

/** Returns the number of files that a process of this machine may have open: see proc_pid_limits(5). */
function maxFiles(): number {
  return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]);
}
