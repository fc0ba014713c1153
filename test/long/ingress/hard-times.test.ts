import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { createKey } from '#shared/accounts/keys/create-key.ts';
import { KeyStore } from '#shared/accounts/keys/key-store.ts';
import { createLog } from '#shared/core/log.ts';
import { startScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { startProcess } from '../../helpers/processes/start-process.ts';

describe('a key', () => {
  it('that is good is not delayed by a thousand wrong ones a second', { timeout: 40_000 }, async () => {
    const cluster = await startScriptedCluster();
    onTestFinished(() => cluster.stop());
    await cluster.addScripted();
    await (await cluster.post([{ write: 'x' }])).text();
    const victim = await makeVictim(cluster.prefix);
    const flood = startProcess('test/helpers/broker/flood-keys.ts', {
      FLOOD_URL: cluster.url,
      FLOOD_COUNT: '3000',
      FLOOD_ID: victim,
    });
    onTestFinished(() => flood.kill());
    const over = flood.line('flood is over', 30_000);
    const latencies: number[] = [];
    while (!flood.lines.some(({ msg }) => msg === 'flood is over')) {
      const begin = performance.now();
      const answer = await cluster.post([{ write: 'x' }]);
      await answer.text();
      expect(answer.status).toBe(200);
      latencies.push(performance.now() - begin);
      await sleep(20);
    }
    const { counts } = await over;
    // Wrong keys are refused as wrong, or because too many are being verified.
    const { 401: wrong = 0, 503: busy = 0 } = counts as Record<number, number>;
    expect(wrong + busy).toBe(3_000);
    const sorted = latencies.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.POSITIVE_INFINITY;
    // On two cores the median was 28 ms. Behind the comparisons that the flood asks for, it would be half a minute.
    expect(at(0.5)).toBeLessThan(300);
    expect(at(0.95)).toBeLessThan(1_000);
  });
});

describe('an ingress', () => {
  it('that stands still for five seconds declares nobody lost', { timeout: 30_000 }, async () => {
    const own = await startScriptedCluster({ ingress: { SILENCE_TIMEOUT_MS: '3000' } });
    onTestFinished(() => own.stop());
    await own.addScripted();
    const streaming = await own.post([{ write: 'data: 1\n\n' }, { waitMs: 7_000 }, { write: 'data: 2\n\n' }], {
      stream: true,
    });
    own.ingress.child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    own.ingress.child.kill('SIGCONT');
    const text = await streaming.text();
    expect(text).toContain('data: 2');
    expect(text).not.toContain('error');
    expect(own.ingress.lines.filter(({ msg }) => msg === 'worker is lost')).toEqual([]);
  });
});

/** The id of a key that somebody guesses secrets for. */
async function makeVictim(prefix: string): Promise<string> {
  const log = createLog({ service: 'test', level: 'silent', format: 'json' });
  const connection = connectRedis(inject('redisUrl'), { log, name: 'test' });
  onTestFinished(() => connection.close());
  await connection.whenReady(AbortSignal.timeout(5_000));
  const store = new KeyStore(connection.redis, `${prefix}:`);
  const { record } = await createKey(store, { kind: 'router', name: 'victim', class: 'normal' });
  return record.id;
}
