import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { until } from '../../helpers/until.ts';
import { startCollector } from '../../helpers/tracing/start-collector.ts';
import { useStarted } from '../../helpers/use-started.ts';

let cluster: Cluster;

const collector = useStarted(() => startCollector());
beforeAll(async () => {
  // A worker of one slot gets its jobs by ticket: one that has claimed has begun, while an offered one need not have.
  const worker = { ...collector.environment, SLOTS: '1' };
  cluster = await startCluster({ ingress: collector.environment, worker });
});

afterAll(() => cluster?.stop());

describe('the trace of a request whose worker is killed before its first token', () => {
  it('shows the attempt that was lost, which the worker cannot report any more, and the one that served', async () => {
    const traceId = randomBytes(16).toString('hex');
    const asked = fetch(`${cluster.url}/api/openai/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${cluster.key}`,
        'content-type': 'application/json',
        traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`,
      },
      body: JSON.stringify({
        model: 'demo',
        stream: true,
        messages: [{ role: 'user', content: 'Hello.' }],
        demo: { first_token_delay_ms: 3_000 },
      }),
    });
    await until(async () => (await metrics()).includes('rtr_jobs{state="claimed"} 1'));
    await cluster.workers[0]?.kill();
    await cluster.addWorker();
    const answer = await asked;
    expect(await answer.text()).toContain('[DONE]');
    expect(answer.headers.get('x-rtr-attempts')).toBe('2');

    const spans = await collector.trace(traceId, 7);
    const attempts = spans.filter(({ name }) => name === 'attempt').toSorted((a, b) => Number(a.start - b.start));
    expect(attempts.map(({ failed, attributes }) => [attributes['error.type'], failed])).toEqual([
      ['worker_lost', true],
      [undefined, false],
    ]);
    const processed = spans.filter(({ name }) => name === 'process jobs.gpu');
    expect(processed).toHaveLength(1);
    const queued = spans.find(({ spanId }) => spanId === processed[0]?.parentId);
    expect(queued?.parentId).toBe(attempts[1]?.spanId);
    expect(spans.find(({ name }) => name.startsWith('POST '))?.attributes['rtr.attempts']).toBe(2);
  });
});

async function metrics(): Promise<string> {
  return (await fetch(`${cluster.adminUrl}/metrics`)).text();
}
