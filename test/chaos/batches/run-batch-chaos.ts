import type OpenAI from 'openai';
import type { Batch } from 'openai/resources/batches';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchClients, chatLine, resultsOf, submit } from '../../helpers/batches/batch-clients.ts';
import { startS3, type TestS3 } from '../../helpers/servers/start-s3.ts';
import { startChaosCluster, type ChaosCluster } from '../cluster/chaos-cluster.ts';
import { batchFaults } from '../faults/fault-kinds.ts';
import type { Crowds, Struck } from '../faults/inject.ts';
import { makeSchedule, type Fault } from '../faults/schedule.ts';
import { strikeAll } from '../faults/strike-all.ts';
import { judgeCrashes } from '../oracle/judge-crashes.ts';
import { footprints, judgeGrowth, type Footprint } from '../oracle/judge-growth.ts';
import { readLedger } from '../oracle/read-ledger.ts';
import type { Violation } from '../oracle/violation.ts';
import { judgeBatch } from './judge-batch.ts';
import { judgeBatchLeftovers } from './judge-batch-leftovers.ts';
import { batchReport } from './batch-report.ts';

/** A run's arguments. */
export interface BatchChaosRun {
  seed: number;
  /** Lines of the batch. */
  lines: number;
  /** Milliseconds that the engine takes for each. */
  lineMs: number;
}

/** What a run came to. */
export interface BatchChaosResult extends BatchChaosRun {
  /** Seconds from the creation of the batch to its end. */
  seconds: number;
  /** Executions of lines that were executed before. */
  again: number;
  struck: Struck[];
  seen: Footprint[];
  violations: Violation[];
}

/** Nobody else sends anything. */
const nobody: Crowds = {
  flood: () => undefined,
  vanish: () => undefined,
  stall: () => undefined,
  wait: () => undefined,
  poison: () => undefined,
};

/** By how much the time between faults is longer than under load of requests: every one is a kill, and what was killed has to start. */
const thinning = 4;

/** Milliseconds for which faults may strike at most, and for a batch without lines. */
const longestMs = 1_200_000;
const leastMs = 120_000;

/** Milliseconds for a line, when all goes slowly. */
const slowLineMs = 10;

/** Milliseconds for an ingress, NATS or Redis to come back. */
const awayMs = 60_000;

/** Milliseconds that a part must have run to be judged for what creeps. */
const creepMs = 60_000;

/** How often parts are weighed, in milliseconds. */
const weighEveryMs = 1_000;

/** Runs one batch while its parts are killed at random, judges it, and prints the report. */
export async function runBatchChaos(run: BatchChaosRun): Promise<BatchChaosResult> {
  // NATS 2.9 can lose what a stream has in files when its servers are killed one after the other again and again.
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

async function runOn(cluster: ChaosCluster, s3: TestS3, run: BatchChaosRun): Promise<BatchChaosResult> {
  const { seed, lines, lineMs } = run;
  const clients = cluster.ingresses.map(({ url }) => batchClients({ url, key: cluster.keys.free }).openai);
  const ids = Array.from({ length: lines }, (_, at) => `line-${at}`);
  const slow = { demo: { first_token_delay_ms: lineMs } };
  // The fronts of the engines know a line by its prompt.
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
    // Its failure is told when the batch is over.
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
    return { ...run, seconds, again: executions.length - lines, struck, seen, violations };
  } finally {
    clearInterval(weighing);
    over.abort();
  }
}

/** What every part and every NATS server holds now. */
function weigh(cluster: ChaosCluster): Footprint[] {
  const servers = Object.keys(cluster.nats.ports).map((name) => ({
    name: `nats-${name}`,
    pid: cluster.nats.pid(name),
  }));
  return footprints(cluster, servers);
}

/** One of each kind lives through the whole run, so that it shows if its memory grows; the tools-worker has no part in it. */
function strikesSpared({ name, index }: Fault): boolean {
  if (name === 'worker-kill') return index >= 3;
  if (name === 'runner-kill') return index === 2;
  return name === 'ingress-kill' && index === 1;
}

const isOver = (state: Batch['status']): boolean => ['completed', 'failed', 'expired', 'cancelled'].includes(state);

/** Judges what the batch says of itself. */
function judgeCounts({ id, status, request_counts: counts }: Batch, lines: number): Violation[] {
  if (status === 'completed' && counts?.total === lines && counts.completed === lines) return [];
  return [{ rule: 'batch', id, detail: `${status}, ${JSON.stringify(counts)} of ${lines} lines` }];
}

/** Waits until a batch has a state. @throws Error with what it is if that takes too long */
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

/** Asks one ingress after the other, until one answers. @throws what the last one did, if that takes too long */
async function asking<T>(clients: readonly OpenAI[], ask: (openai: OpenAI) => Promise<T>): Promise<T> {
  const begun = performance.now();
  let failure: unknown;
  while (performance.now() - begun < awayMs) {
    for (const client of clients) {
      try {
        return await ask(client);
      } catch (error) {
        failure = error;
      }
    }
    await sleep(250);
  }
  throw failure;
}
