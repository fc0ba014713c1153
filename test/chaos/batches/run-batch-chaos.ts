import type OpenAI from 'openai';
import type { Batch } from 'openai/resources/batches';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchClients, chatLine, resultsOf, submit } from '../../helpers/batches/batch-clients.ts';
import { until } from '../../helpers/until.ts';
import { startS3, type TestS3 } from '../../helpers/servers/start-s3.ts';
import { startChaosCluster, type ChaosCluster } from '../cluster/chaos-cluster.ts';
import { batchFaults } from '../faults/fault-kinds.ts';
import type { Crowds } from '../faults/inject.ts';
import { makeSchedule, type Fault } from '../faults/schedule.ts';
import { strikeAll } from '../faults/strike-all.ts';
import { judgeCrashes } from '../oracle/judge-crashes.ts';
import { footprints, judgeGrowth, type Footprint } from '../oracle/judge-growth.ts';
import { readLedger } from '../oracle/read-ledger.ts';
import type { Violation } from '../oracle/violation.ts';
import { judgeBatch } from './judge-batch.ts';
import { judgeBatchLeftovers } from './judge-batch-leftovers.ts';
import { batchReport } from './batch-report.ts';

export interface BatchChaosRun {
  seed: number;
  /** Lines of the batch. */
  lines: number;
  /** Milliseconds that the engine takes per line. */
  lineMs: number;
}

export type BatchChaosResult = Awaited<ReturnType<typeof runOn>>;

const nothing = (): void => undefined;

/** No other load. */
const nobody: Crowds = { flood: nothing, vanish: nothing, stall: nothing, wait: nothing, poison: nothing };

/** Factor of the time between faults, compared with the load of requests: every fault is a kill, and a killed process has to start. */
const thinning = 4;

/** Maximum milliseconds with faults, and for a batch without lines. */
const longestMs = 1_200_000;
const leastMs = 120_000;

/** Milliseconds per line, when everything is slow. */
const slowLineMs = 10;

/** Milliseconds for an ingress, NATS or Redis to come back. */
const awayMs = 60_000;

/** Milliseconds that a component must have run to be judged for slow growth. */
const creepMs = 60_000;

/** Milliseconds between two readings of the components' memory. */
const weighEveryMs = 1_000;

/** Runs one batch while its components are killed at random, judges it, and prints the report. */
export async function runBatchChaos(run: BatchChaosRun): Promise<BatchChaosResult> {
  // NATS 2.9 can lose content of a stream on disk when its servers are killed one after the other again and again.
  const s3 = await startS3();
  try {
    const environment = { USAGE_MAX_REQUESTS: '1000000', ...s3.settings };
    const cluster = await startChaosCluster({ runners: 3, smallDisks: false, environment });
    try {
      const result = await runOn(cluster, s3, run);
      process.stdout.write(`${batchReport(result)}\n`);
      return result;
    } finally {
      await cluster.stop();
    }
  } finally {
    await s3.stop();
  }
}

async function runOn(cluster: ChaosCluster, s3: TestS3, run: BatchChaosRun) {
  const { seed, lines, lineMs } = run;
  const clients = cluster.ingresses.map(({ url }) => batchClients({ url, key: cluster.keys.free }).openai);
  const ids = Array.from({ length: lines }, (_, at) => `line-${at}`);
  const slow = { demo: { first_token_delay_ms: lineMs } };
  // The fronts of the engines recognize a line by its prompt.
  const input = ids.map((id) => chatLine(id, `Repeat ${id}.`, slow));
  const { id } = await asking(clients, (openai) => submit(openai, input));
  const begun = performance.now();
  const seen: Footprint[] = [];
  const weighing = setInterval(() => seen.push(...weigh(cluster)), weighEveryMs);
  const over = new AbortController();
  try {
    const deadline = begun + leastMs + lines * slowLineMs;
    await untilState(clients, id, (state) => state !== 'validating', deadline);
    const schedule = makeSchedule(seed, longestMs / thinning, batchFaults).filter((fault) => !strikesSpared(fault));
    const thinned = schedule.map((fault) => ({ ...fault, at: fault.at * thinning }));
    const striking = strikeAll(cluster, nobody, thinned, over.signal);
    // Its failure is reported when the batch is over.
    striking.catch(() => undefined);
    const batch = await untilState(clients, id, isOver, deadline);
    const seconds = (performance.now() - begun) / 1_000;
    over.abort();
    const struck = await striking;
    seen.push(...weigh(cluster));
    const files = [batch.output_file_id, batch.error_file_id];
    const results = await Promise.all(files.map((file) => asking(clients, (openai) => resultsOf(openai, file))));
    const executions = cluster.engines.flatMap((engine) => engine.executions);
    const violations = [
      ...judgeCounts(batch, lines),
      ...judgeBatch({ ids, results: results.flat(), entries: await readLedger(cluster) }),
      ...(await judgeBatchLeftovers(cluster, s3)),
      ...judgeCrashes([...cluster.ingresses, ...cluster.workers, ...cluster.runners].map(({ part }) => part)),
      ...judgeGrowth(seen, creepMs),
    ];
    /** Repeated executions of lines. */
    const again = executions.length - lines;
    return { ...run, seconds, again, struck, seen, violations };
  } finally {
    clearInterval(weighing);
    over.abort();
  }
}

/** Reads the memory of every component and every NATS server. */
function weigh(cluster: ChaosCluster): Footprint[] {
  const { ports, pid } = cluster.nats;
  const servers = Object.keys(ports).map((name) => ({ name: `nats-${name}`, pid: pid(name) }));
  return footprints(cluster, servers);
}

/**
 * Whether a fault would kill a process that must live through the whole run. One of each kind does, so that growing memory shows; the
 * tools-worker takes no part in the run.
 */
function strikesSpared({ name, index }: Fault): boolean {
  if (name === 'worker-kill') return index >= 3;
  if (name === 'runner-kill') return index === 2;
  return name === 'ingress-kill' && index === 1;
}

const isOver = (state: Batch['status']): boolean => ['completed', 'failed', 'expired', 'cancelled'].includes(state);

function judgeCounts({ id, status, request_counts: counts }: Batch, lines: number): Violation[] {
  if (status === 'completed' && counts?.total === lines && counts.completed === lines) return [];
  return [{ rule: 'batch', id, detail: `${status}, ${JSON.stringify(counts)} of ${lines} lines` }];
}

/**
 * Waits until a batch has a state.
 * @throws Error with its present state if that takes too long
 */
async function untilState(
  clients: readonly OpenAI[],
  id: string,
  isReached: (state: Batch['status']) => boolean,
  deadline: number,
): Promise<Batch> {
  for (;;) {
    const batch = await asking(clients, (openai) => openai.batches.retrieve(id));
    if (isReached(batch.status)) return batch;
    if (performance.now() > deadline) throw new Error(`the batch is not over: ${JSON.stringify(batch)}`);
    await sleep(250);
  }
}

/**
 * Asks one ingress after the other, until one answers.
 * @throws the error of the last one, if that takes too long
 */
async function asking<T>(clients: readonly OpenAI[], ask: (openai: OpenAI) => Promise<T>): Promise<T> {
  const answers: T[] = [];
  let turn = 0;
  await until(async () => {
    const client = clients[turn++ % clients.length];
    if (client) answers.push(await ask(client));
  }, awayMs);
  return answers[0] as T;
}
