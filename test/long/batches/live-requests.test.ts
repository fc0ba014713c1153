import { describe, expect, it } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchClients, slowLines, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { activeAt, firstTextMs } from '../../helpers/batches/first-text.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { least } from '../../helpers/least.ts';
import { useStarted } from '../../helpers/use-started.ts';

/** Milliseconds to the first token of the engine: what live requests need without a batch. */
const firstTokenMs = 300;

const slots = 4;

const cluster = useStarted(() => startCluster({ worker: { SLOTS: String(slots) } }));

const liveMs = () => firstTextMs(batchClients(cluster).openai, firstTokenMs);

async function median(count: number, measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < count; at += 1) {
    times.push(await measure());
    await sleep(50);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(count / 2)] ?? Number.NaN;
}

describe('a live request', () => {
  it('starts within 1.2 times as long when long lines of a batch have every slot', async () => {
    const { openai } = batchClients(cluster);
    await liveMs();
    await cluster.addBatchRunner();
    /** How many times as long it is beside a batch, each of whose lines would hold its slot for two minutes. */
    const times = async (): Promise<number> => {
      const alone = await median(9, liveMs);
      const { id } = await submit(openai, slowLines(50, 120_000));
      // The batch takes a slot again after ten seconds.
      const beside = await median(5, async () => {
        while ((await activeAt(cluster.engineUrl)) < slots) await sleep(20);
        return liveMs();
      });
      await openai.batches.cancel(id);
      expect((await untilBatch(openai, id)).request_counts).toEqual({ total: 50, completed: 0, failed: 0 });
      return beside / alone;
    };
    expect(await least(times, 1.2)).toBeLessThan(1.2);
  });

  it('leaves lines that gave way to be run again, each once', async () => {
    const { openai } = batchClients(cluster);
    const { id } = await submit(openai, slowLines(24, 400));
    await untilBatch(openai, id, ['in_progress']);
    await Promise.all(Array.from({ length: slots }, async () => median(4, liveMs)));
    expect((await untilBatch(openai, id)).request_counts).toEqual({ total: 24, completed: 24, failed: 0 });
  });
});
