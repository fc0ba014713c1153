import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { batchRecordSchema, type BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import { registerRunnerGauges } from '#services/batch-runner/runner-metrics.ts';

function batch(change: Partial<BatchRecord>): BatchRecord {
  const now = Date.now();
  const facts = { id: 'batch_1', owner: 'ada', key: 'k1', api: 'openai', path: '/chat/completions', inputFile: 'f1' };
  const times = { createdAt: now - 9_000_000, expiresAt: now + 9_000_000 };
  return batchRecordSchema.parse({ ...facts, ...times, state: 'running', ...change });
}

const away = () => Promise.reject(new Error('Redis is away'));

/** Returns the metrics of a runner in a cluster with these batches, as lines. */
async function metricsOf(...open: BatchRecord[]): Promise<string[]> {
  return metricsWith(() => Promise.resolve(open));
}

async function metricsWith(listOpen: () => Promise<BatchRecord[]>): Promise<string[]> {
  const registry = new Registry();
  const slots = { running: 0, preemptions: 0 };
  registerRunnerGauges(registry, { jobs: { countAll: away }, batches: { listOpen }, slots, workers: new Map() });
  return (await registry.metrics()).split('\n');
}

function standstillOf(lines: readonly string[]): number | undefined {
  const line = lines.find((each) => each.startsWith('rtr_batch_standstill_seconds '));
  return line === undefined ? undefined : Number(line.split(' ')[1]);
}

it('the metrics of a batch runner show how long the batch without a limit has stood still that stands still for longest', async () => {
  const now = Date.now();
  const lines = await metricsOf(
    batch({ runningAt: now - 8_000_000, lineAt: now - 5_000 }),
    batch({ runningAt: now - 60_000 }),
    batch({ runningAt: now - 8_000_000, lineAt: now - 7_000_000, pausedUntil: now, pausedFor: 'a budget' }),
    batch({ runningAt: now - 8_000_000, lineAt: now - 7_000_000, state: 'ended' }),
  );
  const seconds = standstillOf(lines) ?? 0;
  expect(seconds).toBeGreaterThanOrEqual(60);
  expect(seconds).toBeLessThan(70);
  expect(lines).toContain('rtr_batches_open{state="running"} 2');
  expect(lines).toContain('rtr_batches_open{state="paused"} 1');
});

it('the metrics of a batch runner count the time for which a batch waits for a worker', async () => {
  const now = Date.now();
  const since = { runningAt: now - 8_000_000, pausedUntil: now + 50_000, pausedFor: 'No worker' };
  const lines = await metricsOf({ ...batch(since), lacksWorker: true });
  expect(lines).toContain('rtr_batches_open{state="paused"} 0');
  expect(standstillOf(lines)).toBeGreaterThan(7_000);
});

it('the metrics of a batch runner count a batch as paused only while its pause lasts, and a minute for the next try', async () => {
  const now = Date.now();
  const since = { runningAt: now - 8_000_000, lineAt: now - 7_000_000, pausedFor: 'a budget' };
  const paused = await metricsOf(batch({ ...since, pausedUntil: now - 50_000 }));
  expect(paused).toContain('rtr_batches_open{state="paused"} 1');
  expect(standstillOf(paused)).toBe(0);
  const over = await metricsOf(batch({ ...since, pausedUntil: now - 61_000 }));
  expect(over).toContain('rtr_batches_open{state="paused"} 0');
  expect(over).toContain('rtr_batches_open{state="running"} 1');
  expect(standstillOf(over)).toBeGreaterThanOrEqual(7_000);
});

it('the metrics of a batch runner count a batch that has not started from its creation, and no batch as no standstill', async () => {
  const waiting = batch({ state: 'validating', createdAt: Date.now() - 120_000 });
  expect(standstillOf(await metricsOf(waiting))).toBeGreaterThanOrEqual(120);
  expect(standstillOf(await metricsOf())).toBe(0);
});

it('the metrics of a batch runner are absent while Redis is away, if they depend on it', async () => {
  expect(standstillOf(await metricsWith(away))).toBeUndefined();
});
