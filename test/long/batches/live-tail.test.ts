import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { quantile } from '../../bench/report/quantile.ts';
import { batchClients, completedOf, slowLines, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { activeAt, firstTextMs } from '../../helpers/batches/first-text.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';
import { least } from '../../helpers/least.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

/** Milliseconds to the first token of the engine, for a live request and for a line of the batch. */
const liveMs = 300;
const lineMs = 2_000;

/** Slots of each of two workers. */
const slots = 8;

/** Clients that send one request after the other, with pauses of up to so many milliseconds. */
const clients = 8;
const pauseMs = 300;

const cluster = useStarted(() => startCluster({ workers: 2, worker: { SLOTS: String(slots) } }));
beforeAll(() => cluster.addBatchRunner());

/** Milliseconds to the first text of so many live requests of each client, in ascending order. */
async function firstTexts(requests: number, seed: number): Promise<number[]> {
  const { openai } = batchClients(cluster);
  const random = seededRandom(seed);
  const times: number[] = [];
  const client = async (): Promise<void> => {
    for (let at = 0; at < requests; at += 1) {
      await sleep(random() * pauseMs);
      times.push(await firstTextMs(openai, liveMs));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return times.toSorted((one, other) => one - other);
}

it('the 99th percentile of the time to the first text is at most 1.2 times as long beside a batch', async () => {
  const { openai } = batchClients(cluster);
  await firstTexts(3, 1);
  /** How many times as long it is beside a batch. */
  const times = async (): Promise<number> => {
    const before = await firstTexts(15, 2);
    const { id } = await submit(openai, slowLines(1_000, lineMs));
    // The batch has every slot when the live requests come.
    await until(async () => (await activeAt(cluster.engineUrl)) === 2 * slots);
    const beside = await firstTexts(25, 3);
    const completed = await completedOf(openai, id);
    await openai.batches.cancel(id);
    await untilBatch(openai, id);
    const after = await firstTexts(15, 4);
    const alone = [...before, ...after].toSorted((one, other) => one - other);
    const figures = [alone, beside].map((all) => [0.5, 0.9, 0.99].map((share) => Math.round(quantile(all, share))));
    const [single, shared] = figures.map((each) => each.join(' '));
    process.stdout.write(`\nfirst text, p50 p90 p99 ms: alone ${single}, beside ${shared}; lines: ${completed}\n`);
    // The batch goes on in the slots that are left.
    expect(completed).toBeGreaterThan(5);
    return quantile(beside, 0.99) / quantile(alone, 0.99);
  };
  expect(await least(times, 1.2)).toBeLessThan(1.2);
});
