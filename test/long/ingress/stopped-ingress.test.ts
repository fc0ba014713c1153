import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';

const body = { model: 'demo', max_tokens: 4, messages: [{ role: 'user', content: 'hello' }] };

/** A client that asks an ingress again and again. @param onAnswer called with each complete answer */
async function keepAsking(url: string, key: string, signal: AbortSignal, onAnswer: () => void): Promise<void> {
  while (!signal.aborted) {
    const answer = await post({ url, key, body, signal });
    await answer.text();
    if (answer.status === 200) onAnswer();
  }
}

// On two cores, a second: 35 usually, 65 to 72 while the other's clients wait for nothing; 0 to 12 when each of its tickets is claimed.
it('an ingress that stands still with a deep queue leaves the other its rate', async () => {
  const cluster = await startCluster({
    workers: 3,
    engine: { DEMO_OPTIONS: 'rate=0 delay=250' },
    worker: { SLOTS: '6' },
  });
  onTestFinished(() => cluster.stop());
  const other = await cluster.addIngress();
  const over = new AbortController();
  let answers = 0;
  const clients: Promise<void>[] = [];
  onTestFinished(async () => {
    over.abort();
    await Promise.allSettled(clients);
  });
  /** Answers of the other ingress, a second, in so many seconds. */
  const rate = async (seconds: number): Promise<number> => {
    const [before, begun] = [answers, performance.now()];
    await sleep(seconds * 1_000);
    return ((answers - before) * 1_000) / (performance.now() - begun);
  };
  // In turns, so that tickets of both stand mixed in the lane.
  for (let client = 0; client < 160; client += 1) {
    clients.push(keepAsking(cluster.url, cluster.key, over.signal, () => undefined));
    clients.push(keepAsking(other.url, cluster.key, over.signal, () => void (answers += 1)));
    await sleep(15);
  }
  await rate(2);
  const usual = await rate(5);
  cluster.ingress.child.kill('SIGSTOP');
  await sleep(1_000);
  const meanwhile = await rate(9);
  cluster.ingress.child.kill('SIGCONT');
  // Less than 0.4 of it if each of its tickets is claimed. A busy machine may stand still for some of these seconds.
  expect(meanwhile).toBeGreaterThan(usual * 0.7);
});
