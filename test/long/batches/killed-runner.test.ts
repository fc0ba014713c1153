import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { toFile } from 'openai';
import { Batches } from '#shared/accounts/batches/batches.ts';
import { parseFileId } from '#shared/files/file-id.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { batchClients, chatLine, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { shareCluster } from '../../helpers/cluster/share-cluster.ts';

describe('a batch', () => {
  it('begins although whoever created it died before its first job was added', async () => {
    const cluster = await shareCluster();
    onTestFinished(() => cluster.stop());
    const { openai } = batchClients(cluster);
    await cluster.addBatchRunner();
    const text = JSON.stringify(chatLine('a', 'Hi.'));
    const file = await openai.files.create({ file: await toFile(Buffer.from(text), 'in.jsonl'), purpose: 'batch' });
    const { connection } = await openKeyStore(inject('redisUrl'));
    const bounds = { maxOpen: 10, keepMs: 3_600_000 };
    const batches = new Batches(connection.redis, `${cluster.prefix}:`, { bounds, report: () => undefined });
    const { keyId: owner } = cluster;
    const what = { api: 'openai', path: '/chat/completions', endpoint: '/v1/chat/completions', window: '24h' };
    const createdAt = Date.now();
    const times = { createdAt, expiresAt: createdAt + 3_600_000 };
    const inputFile = parseFileId(file.id) ?? '';
    await batches.create({ id: 'batch_without_job', owner, key: owner, ...what, inputFile, ...times, total: 0 });
    const batch = await untilBatch(openai, 'batch_without_job', undefined, 60_000);
    expect(batch.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
  });
});
