import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';

const body = JSON.stringify({ model: 'demo', max_tokens: 4, messages: [{ role: 'user', content: 'hello' }] });

/** A client that asks an ingress again and again. @param onAnswer called with each complete answer */
async function keepAsking(url: string, key: string, signal: AbortSignal, onAnswer: () => void): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  while (!signal.aborted) {
    const answer = await fetch(`${url}/api/openai/v1/chat/completions`, { method: 'POST', headers, body, signal });
    await answer.text();
    if (answer.status === 200) onAnswer();
  }
}

// On two cores, a second: 35 usually, 65 to 72 while the other's clients wait for nothing; 0 to 12 when each of its tickets is claimed.
it('an ingress that stands still with a deep queue leaves the other its rate', { timeout: 60_000 }, async () => {
  const cluster = await startCluster({
    workers: 3,
    engine: { DEMO_FIRST_TOKEN_DELAY_MS: '250' },
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
  /** Answers of the other ingress in each of the next seconds. */
  const count = async (seconds: number): Promise<number[]> => {
    const counts: number[] = [];
    for (let second = 0; second < seconds; second += 1) {
      const before = answers;
      await sleep(1_000);
      counts.push(answers - before);
    }
    return counts;
  };
  const mean = (counts: number[]): number => counts.reduce((sum, each) => sum + each, 0) / counts.length;
  // In turns, so that tickets of both stand mixed in the lane.
  for (let client = 0; client < 160; client += 1) {
    clients.push(keepAsking(cluster.url, cluster.key, over.signal, () => undefined));
    clients.push(keepAsking(other.url, cluster.key, over.signal, () => void (answers += 1)));
    await sleep(15);
  }
  await count(2);
  const usual = await count(5);
  cluster.ingress.child.kill('SIGSTOP');
  const [, ...meanwhile] = await count(10);
  cluster.ingress.child.kill('SIGCONT');
  expect(mean(meanwhile)).toBeGreaterThan(mean(usual) * 0.9);
  expect(Math.min(...meanwhile)).toBeGreaterThan(mean(usual) * 0.5);
});
