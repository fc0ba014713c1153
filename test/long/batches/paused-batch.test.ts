import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { queuePrefix } from '#shared/background/background-access.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { batchClients, chatLine, resultsOf, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { shareCluster } from '../../helpers/cluster/share-cluster.ts';
import type { Cluster } from '../../helpers/cluster/start-cluster.ts';
import { until } from '../../helpers/until.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await shareCluster();
  await cluster.addBatchRunner();
});
afterAll(() => cluster.stop());

/** A batch whose key may use fewer tokens than its lines need, once it is paused. */
async function pausedBatch(tokensPerDay: number, lines: number) {
  const { raw: key, id: keyId } = await cluster.addKey({ limits: { tokensPerDay } });
  const { openai } = batchClients({ url: cluster.url, key });
  const all = Array.from({ length: lines }, (_, at) => chatLine(`l${at}`, `Say ${at}.`, { max_tokens: 100 }));
  const { id } = await submit(openai, all);
  await until(async () => 'paused' in (await openai.batches.retrieve(id)), 30_000);
  return { openai, id, keyId };
}

describe('a batch whose budget is used up', () => {
  it('pauses, says so, and goes on when the budget does', async () => {
    const { openai, id, keyId } = await pausedBatch(3_000, 100);
    const paused = await openai.batches.retrieve(id);
    expect(paused.status).toBe('in_progress');
    expect(JSON.stringify(paused)).toContain('3000 tokens a day');
    expect(paused.request_counts?.completed).toBeGreaterThan(0);
    expect(paused.request_counts?.completed).toBeLessThan(100);
    expect(paused.request_counts?.failed).toBe(0);

    const { store } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    await store.change(keyId, { limits: { tokensPerDay: 1_000_000 } });
    const batch = await untilBatch(openai, id, undefined, 90_000);
    expect(batch.request_counts).toEqual({ total: 100, completed: 100, failed: 0 });
    expect('paused' in batch).toBe(false);
    const results = await resultsOf(openai, batch.output_file_id);
    expect(new Set(results.map(({ custom_id: custom }) => custom)).size).toBe(100);
  });

  it('is tried again by one slice at a time, and by each every half a minute at most', async () => {
    // For 20 slices, which are more than a runner has seats.
    const { openai, id } = await pausedBatch(1_000, 2_000);
    const { connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const job = (slice: number) => `${queuePrefix(`${cluster.prefix}:`)}:batch-slices:${id}-${slice}`;
    const slices = Array.from({ length: 20 }, (_, slice) => slice);
    const begun = () =>
      Promise.all(slices.map(async (slice) => Number(await connection.redis.hget(job(slice), 'ats'))));
    await until(async () => (await begun()).every((times) => times > 0), 30_000);
    const sum = async () => (await begun()).reduce((all, times) => all + times, 0);
    const before = await sum();
    await sleep(12_000);
    expect((await sum()) - before).toBeLessThanOrEqual(2);
    await openai.batches.cancel(id);
  });
});
