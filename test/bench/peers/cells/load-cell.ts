import { quantile } from '../../report/quantile.ts';
import type { LoadOrder, LoadResult } from '../../load/load.ts';
import type { Metric } from '../results/peer-results.ts';
import { treeUsage } from '../../../helpers/processes/process-tree.ts';
import type { Access, Route, System } from '../systems/system.ts';
import { modelOf, scenarios, type ScenarioName } from '../upstream/scenarios.ts';
import { rotated, sideName, type Cell } from './cell.ts';
import { requestBody, type Content } from './request-body.ts';

/** A cell in which every side gets the same load for the same time. */
export interface LoadCellOptions {
  name: string;
  title: string;
  scenario: ScenarioName;
  connections: number;
  /** Default: the chat format on both sides. */
  route?: Route;
  /** Default: everyday text. */
  content?: Content;
  accesses?: readonly Access[];
}

const timeoutMs = 30_000;

/** One request at a time makes few requests: such cells take longer by this factor. */
const longerAlone = 2;

export function loadCell(options: LoadCellOptions): Cell {
  const { name, title, accesses = ['unlimited'] } = options;
  return {
    name,
    title,
    fresh: false,
    async measure(bench, round) {
      const sides = [...bench.running].flatMap(([system, running]) =>
        accesses.map((access) => ({ running, access, side: sideName(system, access) })),
      );
      for (const { running, access, side } of rotated(sides, round)) {
        const order = await orderFor(options, running, access, bench.plan.seconds);
        if (!order) continue;
        const ask = (changed: LoadOrder): Promise<LoadResult> => bench.generator.ask<LoadResult>(changed);
        if (round === 0) await ask({ ...order, seconds: bench.plan.warmUpSeconds });
        const before = treeUsage(running.roots());
        const result = await ask(order);
        const after = treeUsage(running.roots());
        const cpuMs = after.cpuMs - before.cpuMs;
        bench.recorder.add({ name, title }, side, valuesOf(options.scenario, result, cpuMs), result.failures);
      }
    },
  };
}

async function orderFor(
  { scenario, connections, route = { client: 'chat', upstream: 'chat' }, content = 'everyday' }: LoadCellOptions,
  system: System,
  access: Access,
  seconds: number,
): Promise<(LoadOrder & { kind: 'run' }) | undefined> {
  const target = await system.target(route, access);
  if (!target) return undefined;
  const { texts, everyMs } = scenarios[scenario];
  const body = requestBody(route.client, content, modelOf(scenario, route.upstream), texts > 0);
  return {
    kind: 'run',
    target,
    connections,
    bodies: [body],
    seconds: connections === 1 ? seconds * longerAlone : seconds,
    requests: Number.POSITIVE_INFINITY,
    rampSeconds: everyMs > 0 && connections > 1 ? 1 : 0,
    timeoutMs,
    ...(texts > 0 && { texts }),
  };
}

/** Returns the values of one round for a side. A side without processes has no CPU time. */
function valuesOf(scenario: ScenarioName, result: LoadResult, cpuMs: number): Partial<Record<Metric, number>> {
  const { requests, seconds, totalMs, delays, texts } = result;
  const of = (values: Float64Array, share: number): number => quantile(values.toSorted(), share);
  const cpu = cpuMs === 0 ? {} : { cpu: cpuMs / requests };
  const { texts: wanted, everyMs } = scenarios[scenario];
  if (wanted === 0) {
    return { requestsPerSecond: requests / seconds, p50: of(totalMs, 0.5), p99: of(totalMs, 0.99), ...cpu };
  }
  if (everyMs === 0) {
    const perChunk = cpuMs === 0 ? {} : { cpuPerChunk: (cpuMs * 1000) / texts };
    return { chunksPerSecond: texts / seconds, ...perChunk };
  }
  return {
    byteP50: of(delays.byte, 0.5),
    byteP99: of(delays.byte, 0.99),
    textP50: of(delays.text, 0.5),
    textP99: of(delays.text, 0.99),
    tokenP50: of(delays.token, 0.5),
    tokenP99: of(delays.token, 0.99),
    thereP50: of(delays.there, 0.5),
    ...cpu,
  };
}
