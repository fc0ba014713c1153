import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { startMessagesUpstream, type MessagesUpstream } from '../../helpers/upstreams/start-messages-upstream.ts';
import { until } from '../../helpers/until.ts';

let cluster: Cluster;
let upstream: MessagesUpstream;

const registry = `
auto: { except: [limited] }
models:
  best: { targets: [{ model: gone }] }
`;

beforeAll(async () => {
  const error = { type: 'rate_limit_error', message: 'Slow down.' };
  upstream = await startMessagesUpstream(['limited'], () => ({ status: 429, headers: { 'retry-after': '40' }, error }));
  cluster = await startCluster({ workers: 0, ingress: withRegistry(registry) });
  await cluster.addCliWorker({
    CLI_KIND: 'command',
    CLI_COMMAND: `${process.execPath} ${process.cwd()}/test/helpers/processes/slow-cat.mjs 0`,
    CLI_MODELS: 'cat',
  });
  await cluster.addCloudWorker({
    PROVIDER: 'custom',
    PROVIDER_URL: `${upstream.url}/v1`,
    PROVIDER_KEY: 'none',
    PROVIDER_FORMAT: 'messages',
  });
});
afterAll(async () => {
  await cluster.stop();
  await upstream.stop();
});

interface Refusal {
  status: number;
  retryAfter: string | null;
  message: string;
  ms: number;
}

async function ask(fields: object): Promise<Refusal> {
  const askedAt = performance.now();
  const answer = await fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${cluster.key}` },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], ...fields }),
  });
  const { error } = (await answer.json()) as { error: { message: string } };
  const { status, headers } = answer;
  return { status, retryAfter: headers.get('retry-after'), ...error, ms: performance.now() - askedAt };
}

describe('a request that nobody can serve', () => {
  it('is refused at once, with what no model takes', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };
    const refusal = await ask({ model: 'auto', messages: [{ role: 'user', content: [image] }] });
    expect(refusal).toMatchObject({ status: 400, message: 'No connected model takes images.' });
    expect(refusal.ms).toBeLessThan(5_000);
  });

  it('is refused at once, with the names that its own stands for', async () => {
    const refusal = await ask({ model: 'best' });
    expect(refusal).toMatchObject({ status: 503, retryAfter: '10', message: expect.stringContaining('`gone`') });
    expect(refusal.ms).toBeLessThan(5_000);
  });

  it('is refused at once with the rest of the pause while every upstream limits its rate', async () => {
    expect(await ask({ model: 'limited' })).toMatchObject({ status: 429 });
    await until(async () => (await ask({ model: 'limited' })).message.startsWith('Every upstream'));
    const refusal = await ask({ model: 'limited' });
    expect(refusal).toMatchObject({ status: 429, message: expect.stringContaining('limits its rate') });
    expect(Number(refusal.retryAfter)).toBeGreaterThan(15);
    expect(refusal.ms).toBeLessThan(5_000);
    expect(upstream.calls).toHaveLength(1);
  });
});
