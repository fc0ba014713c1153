import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Batches } from '#shared/accounts/batches/batches.ts';
import { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { sweptStores } from '#shared/accounts/people/owned-kinds.ts';
import { Recordings } from '#shared/accounts/recordings/recordings.ts';
import { StoredResponses } from '#shared/accounts/responses/stored/stored-responses.ts';
import { sweep, type SweptKind } from '#services/batch-runner/sweeps/sweep.ts';
import { readAllValues } from '../../../helpers/accounts/read-all-values.ts';
import { openTestWebhooks } from '../../../helpers/webhooks/open-test-webhooks.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** Opens the sweep with everything that it sweeps, under a prefix of its own, and counts each kind. */
async function open({ storedMs = hourMs } = {}) {
  const webhooks = await openTestWebhooks();
  const { redis, prefix, keys, deliveries } = webhooks;
  const report = (): void => undefined;
  const bounds = { keepMs: storedMs, ownerBytes: 1e6, totalBytes: 1e6, historyBytes: 1e6 };
  const stored = new StoredResponses(redis, prefix, { bounds, keys, report });
  const recordings = new Recordings(redis, prefix, { bounds: { ...bounds, ownerCount: 1_000 }, keys, report });
  const batches = new Batches(redis, prefix, { bounds: { maxOpen: 1, keepMs: hourMs }, report });
  const work = new BatchWork(redis, prefix, { report });
  const deleted: string[] = [];
  const swept = new Map<SweptKind, number>();
  const run = () =>
    sweep({
      sweepStore: (kind) => sweptStores[kind].sweep(redis, prefix),
      deliveries,
      batches: work,
      files: { removeReleased: async (names) => void deleted.push(...names) },
      count: (kind, count) => void swept.set(kind, (swept.get(kind) ?? 0) + count),
    });
  /** Backdates a delivery, so that it was given up this many milliseconds ago. */
  const takeBack = async (endpoint: string, id: string, ms: number): Promise<void> => {
    await redis.zrem(`${prefix}webhook-pending:${endpoint}`, id);
    await redis.hset(`${prefix}webhook-delivery:${id}`, 'state', 'dead');
    await redis.zadd(`${prefix}webhook-dead:${endpoint}`, Date.now() - ms, id);
  };
  return { ...webhooks, redis, stored, recordings, batches, work, deleted, swept, run, takeBack };
}

it('the sweep removes all stored responses that have expired, even if no new ones are stored', async () => {
  const { stored, redis, prefix, run, swept } = await open({ storedMs: 24 });
  const ids = Array.from({ length: 130 }, (_, at) => `resp_${at}`);
  // Storing them one after the other would sweep the earlier ones.
  await Promise.all(ids.map((id) => stored.store('ada', { id, response: { id, output: [] }, input: [] })));
  await sleep(60);
  await run();
  expect(swept.get('stored_response')).toBeGreaterThan(0);
  expect(await readAllValues(redis, prefix)).not.toContain('resp_');
  expect(await redis.get(`${prefix}stored-total`)).toBe('0');
});

it('the sweep removes all recordings that have expired, even if no new ones are stored', async () => {
  const { recordings, redis, prefix, run, swept } = await open({ storedMs: 24 });
  const facts = { at: 1, endedAt: 2, endpoint: 'POST /', format: 'chat', key: { id: 'k1', name: 'laptop' } };
  const whole = { end: 'whole', requestBytes: 1, answerBytes: 1, isRequestCut: false, isAnswerCut: false } as const;
  const none = new Uint8Array();
  const ids = Array.from({ length: 130 }, (_, at) => `r${at}`);
  await Promise.all(ids.map((id) => recordings.store('ada', { id, ...facts, ...whole }, none, none)));
  await sleep(60);
  await run();
  expect(swept.get('recording')).toBeGreaterThan(0);
  expect(await redis.keys(`${prefix}recording*`)).toEqual([`${prefix}recording-total`]);
  expect(await redis.get(`${prefix}recording-total`)).toBe('0');
});

it('the sweep removes deliveries from the lists after their time, and leaves the others', async () => {
  const { add, outbox, batchEvent, deliveries, takeBack, run, swept } = await open();
  const { endpoint } = await add('http://127.0.0.1:1/');
  await outbox.emit(batchEvent());
  await outbox.emit(batchEvent());
  const [old, kept] = await deliveries.list(endpoint.id, { limit: 2 });
  await takeBack(endpoint.id, old?.id ?? '', 31 * dayMs);
  await takeBack(endpoint.id, kept?.id ?? '', 29 * dayMs);
  await run();
  expect(swept.get('webhook_delivery')).toBe(1);
  expect(await deliveries.list(endpoint.id, { state: 'dead', limit: 9 })).toMatchObject([{ id: kept?.id }]);
});

it('the sweep removes the objects of a batch that was removed without them, and lets its owner create another one', async () => {
  const { batches, work, run, deleted, swept, redis, prefix } = await open();
  const createdAt = Date.now();
  const of = { owner: 'ada', key: 'k1', api: 'openai', path: '/chat/completions', inputFile: 'f', total: 0 };
  await batches.create({ id: 'b1', ...of, createdAt, expiresAt: createdAt + hourMs });
  await redis.hset(`${prefix}files-of:ada`, 'f', JSON.stringify({ object: 'input', bytes: 3 }));
  await work.holdInput('b1');
  await redis.del(`${prefix}files-of:ada`);
  await redis.hset(`${prefix}file-held`, 'input', 'ada 3');
  await run();
  expect(deleted).toEqual([]);
  await work.move('b1', { from: 'validating', to: 'ended' });
  expect(await batches.delete('b1')).toBe(true);
  await batches.create({ id: 'b2', ...of, createdAt, expiresAt: createdAt + hourMs });
  await run();
  await run();
  expect(deleted).toEqual(['input']);
  expect(swept.get('batch')).toBe(1);
  expect((await work.listOpen()).map(({ id }) => id)).toEqual(['b2']);
});
