import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { rssBytes } from '../../bench/cluster/process-usage.ts';
import { chat, engineState, newKey, post } from '../../helpers/clients/keyed-requests.ts';
import { countLedger } from '../../helpers/batches/expect-each-once.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import type { ServiceProcess } from '../../helpers/processes/start-process.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const count = 400;

/** The first three warm up: memory is compared from the end of the third one on. */
const rounds = 5;

let other: { process: ServiceProcess; url: string };

const cluster = useStarted(() =>
  startCluster({
    worker: { SLOTS: '64' },
    engine: { DEMO_SLOTS: '64' },
    // What is not needed any more is collected in time, so that what stays shows.
    ingressFlags: [...process.execArgv, '--max-old-space-size=220'],
  }),
);
beforeAll(async () => {
  other = await cluster.addIngress();
  // Both know the worker.
  await until(async () => (await post({ url: other.url, key: cluster.key, body: chat('tokens=1') })).status === 200);
});

/** Megabytes of memory of the two ingress nodes. */
function memory(): number {
  return [cluster.ingress, other.process].reduce((sum, { child: { pid = 0 } }) => sum + rssBytes(pid) / 1024 ** 2, 0);
}

/** Sends the requests with keys, each of them twice at random moments within seconds, to a random ingress. */
async function sendAllTwice(random: () => number, withinMs: number): Promise<void> {
  const requests = Array.from({ length: count }, (_, at) => ({
    key: newKey(),
    body: chat(`tokens=${5 + (at % 20)} rate=200`, { stream: at % 2 === 0, user: `u${at}` }),
  }));
  const sendOne = async ({ key, body }: (typeof requests)[number], attempts = 5): Promise<string> => {
    await sleep(random() * withinMs);
    const url = random() < 0.5 ? cluster.url : other.url;
    const answer = await post({ url, key: cluster.key, body, headers: { 'idempotency-key': key } });
    const text = await answer.text();
    // As the SDKs do, with the same key, when a machine is so busy that Redis does not answer in time.
    if (answer.headers.get('x-should-retry') === 'true' && attempts > 1) return sendOne({ key, body }, attempts - 1);
    expect([answer.status, answer.status === 200 ? '' : text]).toEqual([200, '']);
    return text;
  };
  await Promise.all(
    requests.map(async (request) => {
      const [one, two] = await Promise.all([sendOne(request), sendOne(request)]);
      expect(withoutSigns(two)).toBe(withoutSigns(one));
      expect(one.length).toBeGreaterThan(100);
    }),
  );
}

function withoutSigns(text: string): string {
  return text.replaceAll(': keep-alive\n\n', '');
}

describe('400 requests with idempotency keys, sent twice at random moments to two ingress nodes', () => {
  it('are executed once and charged once each, with flat memory', async () => {
    const random = seededRandom(25);
    const seen: number[] = [];
    const { started } = await engineState(cluster);
    const charged = started;
    await until(async () => (await countLedger(inject('redisUrl'), cluster.prefix)) === charged);
    for (let round = 1; round <= rounds; round += 1) {
      await sendAllTwice(random, round === 1 ? 6_000 : 4_000);
      expect((await engineState(cluster)).started).toBe(started + round * count);
      await until(async () => (await countLedger(inject('redisUrl'), cluster.prefix)) - charged >= round * count);
      seen.push(memory());
    }
    // None comes later.
    await sleep(1_500);
    expect(await countLedger(inject('redisUrl'), cluster.prefix)).toBe(charged + rounds * count);
    // A busy machine takes more rounds until the heap has its size. What is kept of each request would show in every round.
    const growths = seen.slice(1).map((size, at) => size - Number(seen[at]));
    expect(Math.min(...growths.slice(-3)), seen.join(', ')).toBeLessThan(10);
    const { connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const total = Number(await connection.redis.get(`${cluster.prefix}:idempotent-total`));
    expect(total).toBeGreaterThan(0);
    expect(total).toBeLessThan(64 * 1024 * 1024);
  });
});
