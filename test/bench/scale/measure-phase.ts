import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs, rssBytes } from '../cluster/process-usage.ts';
import { quantile } from '../report/quantile.ts';
import { everydayRequest } from '../peers/cells/request-body.ts';
import type { ScaleCluster } from './scale-cluster.ts';
import { trafficBetween } from './scale-nats.ts';

/** Results of one phase. CPU is in percent of one core. */
export interface PhaseResult {
  name: string;
  seconds: number;
  ingressCpu: number;
  workerCpu: number;
  /** All servers together. */
  natsCpu: number;
  /** All stand-ins, divided by their number. */
  standInWorkerCpu: number;
  standInIngressCpu: number;
  /** Messages per second that NATS delivered. */
  messages: number;
  bytes: number;
  slowConsumers: number;
  ingressBytes: number;
  natsBytes: number;
  /** Requests to the real ingress: the failed ones, and milliseconds until the answer. */
  probes: { sent: number; failed: Record<string, number>; p50: number; p99: number; most: number };
  /** Milliseconds until the state before the phase was back, where the phase waits for that. */
  recoveredMs?: number | undefined;
  notes: string;
}

/** Milliseconds between two requests to the real ingress, unless the phase names others. */
const probeEveryMs = 100;

/** Milliseconds until a probe must be answered. */
const probeTimeoutMs = 30_000;

const probeBody = everydayRequest('bench-whole');

export interface Phase {
  name: string;
  probeEveryMs?: number;
  run: (cluster: ScaleCluster) => Promise<{ recoveredMs?: number; notes?: string }>;
}

/** Runs one phase, with a few requests a second to the real ingress meanwhile. */
export async function measurePhase(
  cluster: ScaleCluster,
  counts: { ingresses: number; workers: number },
  { name, run, probeEveryMs: everyMs = probeEveryMs }: Phase,
): Promise<PhaseResult> {
  const { nats, ingress, worker, standInWorkers, standInIngresses } = cluster;
  const probes = startProbes(cluster, everyMs);
  const parts = { ingress, worker, standInWorkers, standInIngresses };
  const cpuNow = () => Object.fromEntries(Object.entries(parts).map(([part, { pid }]) => [part, cpuMs(pid)]));
  const [cpuBefore, before, begin] = [cpuNow(), await nats.traffic(), performance.now()];
  const { recoveredMs, notes = '' } = await run(cluster);
  const seconds = (performance.now() - begin) / 1_000;
  const [cpuAfter, spent] = [cpuNow(), trafficBetween(before, await nats.traffic())];
  const probed = await probes.stop();
  const percent = (ms: number): number => ms / 10 / seconds;
  const cpu = (part: keyof typeof parts): number => percent((cpuAfter[part] ?? 0) - (cpuBefore[part] ?? 0));
  return {
    name,
    seconds,
    ingressCpu: cpu('ingress'),
    workerCpu: cpu('worker'),
    natsCpu: percent(spent.cpu),
    standInWorkerCpu: cpu('standInWorkers') / Math.max(1, counts.workers - 1),
    standInIngressCpu: cpu('standInIngresses') / Math.max(1, counts.ingresses - 1),
    messages: spent.out_msgs / seconds,
    bytes: spent.out_bytes / seconds,
    slowConsumers: spent.slow_consumers,
    ingressBytes: rssBytes(ingress.pid),
    natsBytes: nats.pids().reduce((sum, pid) => sum + rssBytes(pid), 0),
    probes: probed,
    recoveredMs,
    notes,
  };
}

/** Sends a request to the real ingress and waits for its answer. Returns milliseconds, or the outcome instead of an answer. */
export async function sendProbe({ url, key }: Pick<ScaleCluster, 'url' | 'key'>): Promise<number | string> {
  const begin = performance.now();
  try {
    const answer = await fetch(`${url}/api/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: probeBody,
      signal: AbortSignal.timeout(probeTimeoutMs),
    });
    const text = await answer.text();
    if (answer.status === 200) return performance.now() - begin;
    return `${answer.status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`;
  } catch (error) {
    return String(error);
  }
}

function startProbes(cluster: ScaleCluster, everyMs: number): { stop: () => Promise<PhaseResult['probes']> } {
  const running = new Set<Promise<void>>();
  const times: number[] = [];
  const failed: Record<string, number> = {};
  let sent = 0;
  const probe = async (): Promise<void> => {
    sent += 1;
    const outcome = await sendProbe(cluster);
    if (typeof outcome === 'number') times.push(outcome);
    else failed[outcome] = (failed[outcome] ?? 0) + 1;
  };
  const timer = setInterval(() => {
    const one = probe().finally(() => running.delete(one));
    running.add(one);
  }, everyMs);
  return {
    stop: async () => {
      clearInterval(timer);
      while (running.size > 0) await Promise.race([Promise.all(running), sleep(probeTimeoutMs + 1_000)]);
      times.sort((one, other) => one - other);
      return { sent, failed, p50: quantile(times, 0.5), p99: quantile(times, 0.99), most: times.at(-1) ?? Number.NaN };
    },
  };
}
