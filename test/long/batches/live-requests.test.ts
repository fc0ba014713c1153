import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchClients, chatLine, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';

/** Milliseconds to the first token of the engine: what live requests need without a batch. */
const firstTokenMs = 300;

const slots = 4;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ worker: { SLOTS: String(slots) } });
});
afterAll(() => cluster.stop());

/** Milliseconds to the first text of a streamed live request. */
async function liveMs(): Promise<number> {
  const { openai } = batchClients(cluster);
  const startedAt = performance.now();
  const stream = await openai.chat.completions.create({
    model: 'demo',
    messages: [{ role: 'user', content: `Hello.\n[demo delay=${firstTokenMs} tokens=3]` }],
    stream: true,
  });
  let ms: number | undefined;
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) ms ??= performance.now() - startedAt;
  return ms ?? Number.NaN;
}

async function median(count: number, measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < count; at += 1) {
    times.push(await measure());
    await sleep(50);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(count / 2)] ?? Number.NaN;
}

async function active(): Promise<number> {
  const answer = await fetch(`${cluster.engineUrl}/demo/state`);
  return ((await answer.json()) as { active: number }).active;
}

describe('a live request', () => {
  it('starts within 1.2 times as long when long lines of a batch have every slot', async () => {
    const { openai } = batchClients(cluster);
    await liveMs();
    const alone = await median(9, liveMs);
    // Each line would hold its slot for two minutes, and no slot is left to live requests for longer than their answer.
    await cluster.addBatchRunner({ BATCH_YIELD_MS: '0' });
    const long = { demo: { first_token_delay_ms: 120_000 } };
    const { id } = await submit(
      openai,
      Array.from({ length: 50 }, (_, at) => chatLine(`l${at}`, 'Hi.', long)),
    );
    const beside = await median(9, async () => {
      while ((await active()) < slots) await sleep(20);
      return liveMs();
    });
    expect(beside).toBeLessThan(1.2 * alone);
    await openai.batches.cancel(id);
    expect((await untilBatch(openai, id)).request_counts).toEqual({ total: 50, completed: 0, failed: 0 });
  });

  it('leaves lines that gave way to be run again, each once', async () => {
    const { openai } = batchClients(cluster);
    const lines = Array.from({ length: 24 }, (_, at) =>
      chatLine(`l${at}`, 'Hi.', { demo: { first_token_delay_ms: 400 } }),
    );
    const { id } = await submit(openai, lines);
    await untilBatch(openai, id, ['in_progress']);
    await Promise.all(Array.from({ length: slots }, async () => median(4, liveMs)));
    expect((await untilBatch(openai, id)).request_counts).toEqual({ total: 24, completed: 24, failed: 0 });
  });
});
