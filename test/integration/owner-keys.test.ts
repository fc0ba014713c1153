import { randomBytes } from 'node:crypto';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { OwnerKeys } from '#shared/accounts/secrets/owner-keys.ts';
import { sealer } from '#shared/core/seal.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { everythingUnder } from '../helpers/processes/everything-under.ts';
import { startCollector, type Collector } from '../helpers/tracing/start-collector.ts';
import { until } from '../helpers/until.ts';

const secret = randomBytes(32);
let collector: Collector;
let cluster: Cluster;

beforeAll(async () => {
  collector = await startCollector();
  const traced = { ...collector.environment, LOG_LEVEL: 'trace' };
  cluster = await startCluster({ ingress: { ...traced, SEAL_SECRET: secret.toString('hex') }, worker: traced });
});
afterAll(async () => {
  await cluster.stop();
  await collector.stop();
});

it("an owner's key seals what the answer carries, and stands in no log, metric, trace or stored value", async () => {
  const client = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
  const { output } = await client.responses.create({
    model: 'demo',
    input: 'Think first.',
    reasoning: { effort: 'high' },
    include: ['reasoning.encrypted_content'],
  });
  const key = new OwnerKeys(() => [secret]).ofGrant(cluster.keyId) ?? '';
  const { unseal } = sealer(Buffer.from(key, 'base64url'));
  const sealed = output.map((item) => (item.type === 'reasoning' ? item.encrypted_content : undefined));
  expect(unseal(sealed.find((text) => typeof text === 'string') ?? '')).toContain('text');

  await until(() => collector.spans.length > 2);
  const metrics = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
  const { connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
  const stored = await everythingUnder(connection.redis, `${cluster.prefix}:`);
  const logs = [cluster.ingress, ...cluster.workers].flatMap(({ lines }) => lines);
  const seen = JSON.stringify(logs) + Buffer.concat(collector.raw).toString('latin1') + metrics + stored;
  expect(seen).toContain(cluster.keyId);
  for (const text of [key, secret.toString('hex'), secret.toString('base64url')]) expect(seen).not.toContain(text);
  expect(await connection.redis.exists(`${cluster.prefix}:cluster-secret`)).toBe(0);
});
