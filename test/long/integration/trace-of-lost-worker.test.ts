import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { chat, post } from '../../helpers/clients/keyed-requests.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { metricOf } from '../../helpers/cluster/worker-admin.ts';
import { until } from '../../helpers/until.ts';
import { startCollector } from '../../helpers/tracing/start-collector.ts';
import { useStarted } from '../../helpers/use-started.ts';

const collector = useStarted(() => startCollector());
const cluster = useStarted(() => {
  // A worker of one slot gets its jobs by ticket: one that has claimed has begun, while an offered one need not have.
  const worker = { ...collector.environment, SLOTS: '1' };
  // The head of an answer, which counts the attempts, is sent before the first keep-alive.
  return startCluster({ ingress: { ...collector.environment, KEEP_ALIVE_MS: '60000' }, worker });
});

it('the trace of a request whose worker is killed before its first token shows the lost attempt and the one that served', async () => {
  const traceId = randomBytes(16).toString('hex');
  const { url, key } = cluster;
  const headers = { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` };
  const asked = post({ url, key, body: chat('delay=8000', { stream: true }), headers });
  await until(async () => (await metricOf(cluster.adminUrl, 'rtr_jobs{state="claimed"}')) === 1);
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
