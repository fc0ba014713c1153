import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChaosCluster, type ChaosCluster } from './cluster/chaos-cluster.ts';
import { diskFaults, type FaultName } from './faults/fault-kinds.ts';
import { makeSchedule, type Fault } from './faults/schedule.ts';
import { strikeAll } from './faults/strike-all.ts';
import { Load, type SentAgain } from './load/load.ts';
import type { Sent } from './load/send-request.ts';
import { Disturbances } from './oracle/disturbances.ts';
import { judgeAgain } from './oracle/judge-again.ts';
import { judgeAnswers } from './oracle/judge-answers.ts';
import { judgeFailures, judgeRecovery } from './oracle/judge-failures.ts';
import { footprints, judgeGrowth, type Footprint } from './oracle/judge-growth.ts';
import { judgeCrashes } from './oracle/judge-crashes.ts';
import { judgeLedger } from './oracle/judge-ledger.ts';
import { judgeLeftovers } from './oracle/judge-leftovers.ts';
import { judgeBlame, judgePoison } from './oracle/judge-poison.ts';
import { judgeSlots } from './oracle/judge-slots.ts';
import { judgeTools } from './oracle/judge-tools.ts';
import { readLedger } from './oracle/read-ledger.ts';
import { countFailures, countOutcomes, outcomeOf, recoveries } from './report/outcomes.ts';
import { report } from './report/report.ts';

export interface ChaosRun {
  seed: number;
  /** Milliseconds during which faults strike. */
  ms: number;
  /** Kinds of faults. Default: all. */
  names?: readonly FaultName[];
}

export type ChaosResult = Awaited<ReturnType<typeof run>>;

/** Faults of workers after which streams without text recover at another worker. */
const recovering = ['worker-kill', 'worker-stop', 'worker-cut'] as const;

/** Requests a second. */
const rate = 15;

/** Maximum number of workers that one request may kill. */
const maxDeaths = 2;

/** Maximum share of failed requests. Measured shares are 11 to 28 %. */
const maxFailed = 0.4;

/** From this duration on, in milliseconds, some components are never killed, so that slow growth shows. */
const soakMs = 300_000;

/** Violations of each rule for which the report has log lines. */
const explained = 2;

/** Milliseconds between two readings of the components' memory. */
const weighEveryMs = 1_000;

/** Maximum milliseconds of any request. */
const maxMs = 60_000;

/** Calm at the beginning and at the end, in milliseconds. */
const calmMs = 2_000;

/** Milliseconds after which reservations are free again whose ingress was killed, or whose end a primary lost: about a minute. */
const reservedMs = 75_000;

/** Runs a cluster under load and faults, judges it, and prints the report. */
export async function runChaos({ seed, ms, names }: ChaosRun): Promise<ChaosResult> {
  const cluster = await startChaosCluster();
  try {
    const result = await run(cluster, { seed, ms, ...(names && { names }) });
    process.stdout.write(`${report(result)}\n`);
    return result;
  } finally {
    await cluster.stop();
  }
}

async function run(cluster: ChaosCluster, { seed, ms, names }: ChaosRun) {
  const leftOut = cluster.disks ? [] : diskFaults;
  const schedule = makeSchedule(seed, ms, names).filter((fault) => {
    return !leftOut.includes(fault.name) && !(ms >= soakMs && strikesSpared(fault));
  });
  const load = new Load(cluster, `c${seed}`, seed, maxMs);
  const { struck, probes, leftovers, seen } = await endure(cluster, load, schedule);
  const { sent, sentAgain } = load;
  const entries = await readLedger(cluster);
  const executions = cluster.engines.flatMap((engine) => engine.executions);
  const disturbances = new Disturbances(struck);
  const kills = struck.filter(({ fault }) => fault.name === 'worker-kill').map(({ from }) => from);
  const deaths = [...kills, ...cluster.poisoned.map(({ at }) => at)];
  const violations = [
    ...judgeAnswers([...sent, ...sentAgain.map(({ again }) => again)], disturbances, maxMs),
    ...judgeSlots(executions, untilLast(sent, sentAgain), disturbances, performance.now()),
    ...judgeTools(sent, cluster.toolCalls()),
    ...judgeLedger(
      sent.filter(({ plan }) => plan.againMs === undefined),
      entries,
      disturbances,
    ),
    ...judgeAgain(sentAgain, entries, disturbances),
    ...judgePoison(sent, cluster.poisoned, maxDeaths),
    ...judgeBlame(sent, deaths, disturbances),
    ...judgeFailures(sent, maxFailed),
    ...judgeRecovery(probes),
    ...judgeCrashes([...cluster.ingresses, ...cluster.workers].map(({ part }) => part)),
    ...leftovers,
    ...judgeGrowth(seen),
  ];
  const ends = { done: 0, ended: 0, refused: 0, broken: 0, left: 0 };
  for (const one of sent) ends[outcomeOf(one)] += 1;
  const stayed = sent.length - ends.left;
  return {
    seed,
    requests: sent.length,
    /** Requests by outcome. */
    ends,
    /** Every failure with its count, the most frequent first. */
    failures: countFailures(sent),
    /** Share of failures among requests whose clients stayed. */
    failedShare: (stayed - ends.done) / stayed,
    /** Requests that were blamed and are not poisoned. */
    blamed: sent.filter(({ plan, answer }) => !plan.poison && answer.isBlamed).length,
    outcomes: countOutcomes(struck, sent, executions),
    /** Kinds of faults that cannot be caused here. */
    leftOut,
    /** Milliseconds from a worker's fault to the first text of each stream that it had without text, by kind of fault. */
    recovery: recovering.map((name) => [name, recoveries(struck, sent, executions, name)] as const),
    violations,
    /** Log lines of the components about the requests of the first violations, each line after the component's name. */
    logged: [...Map.groupBy(violations, ({ rule }) => rule).values()]
      .flatMap((ofRule) => ofRule.slice(0, explained))
      .flatMap(({ id }) =>
        [...cluster.ingresses, ...cluster.workers].flatMap(({ part }) =>
          part.linesOf(id).map((line) => `${part.name} ${line}`),
        ),
      ),
  };
}

/** Returns the requests, each until the last of its clients was gone. */
function untilLast(sent: readonly Sent[], sentAgain: readonly SentAgain[]): Sent[] {
  const again = new Map(sentAgain.map((pair) => [pair.first, pair.again]));
  return sent.map((one) => {
    const other = again.get(one);
    if (!other || one.endedAt === undefined) return one;
    return { ...one, endedAt: other.endedAt === undefined ? undefined : Math.max(one.endedAt, other.endedAt) };
  });
}

/** Runs the load while faults strike, until all is calm again. Load and readings end with it, also when it rejects. */
async function endure(cluster: ChaosCluster, load: Load, schedule: readonly Fault[]) {
  const seen: Footprint[] = [];
  const weigh = (): number => seen.push(...footprints(cluster));
  const over = new AbortController();
  const loading = load.run(rate, over.signal);
  await sleep(calmMs);
  const weighing = setInterval(weigh, weighEveryMs);
  try {
    weigh();
    const struck = await strikeAll(cluster, load, schedule);
    await sleep(calmMs);
    over.abort();
    await loading;
    await load.settle();
    const probes = await load.probe();
    const isLasting = schedule.some(({ name }) => name === 'ingress-kill' || name === 'redis-kill');
    const leftovers = await judgeLeftovers(cluster, isLasting ? reservedMs : 15_000);
    weigh();
    return { struck, probes, leftovers, seen };
  } finally {
    clearInterval(weighing);
    over.abort();
    await loading;
  }
}

/** Whether a fault would kill the last ingress or the tools-worker. */
function strikesSpared({ name, index }: Fault): boolean {
  return (name === 'ingress-kill' && index === 1) || (name === 'worker-kill' && index === 4);
}
