import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { EventLoopLoad } from '#services/ingress/http/event-loop-load.ts';
import { defaultMaxActive, HeldBodies } from '#services/ingress/http/held-bodies.ts';
import { chat, post } from '../../../helpers/clients/keyed-requests.ts';
import { startCluster, type Cluster } from '../../../helpers/cluster/start-cluster.ts';
import { until } from '../../../helpers/until.ts';

/** Holds the event loop for a while, again and again. */
async function hold(ms: number, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const end = performance.now() + ms;
    while (performance.now() < end);
    await sleep(1);
    await nextTurn();
  }
}

function start(mostMs: number): EventLoopLoad {
  const load = new EventLoopLoad(mostMs);
  onTestFinished(() => load.close());
  return load;
}

describe('an event loop', () => {
  it('is behind when its timers are late for about a second, until they are not', async () => {
    const load = start(200);
    const held = new HeldBodies(1_000, 10, load);
    held.open('key').release();
    await hold(500, 8);
    expect(load.isBehind).toBe(true);
    expect(() => held.open('key')).toThrow(expect.objectContaining({ code: 'overloaded', retryAfter: 1 }));
    await until(() => !load.isBehind, 8_000);
    held.open('key').release();
  });

  it('is not behind after one pause, as of a process that is stopped', async () => {
    const load = start(1_000);
    await hold(4_000, 1);
    await sleep(250);
    expect(load.isBehind).toBe(false);
  });

  it('is never behind where that is switched off', async () => {
    const load = start(0);
    await hold(300, 2);
    expect(load.isBehind).toBe(false);
  });
});

it('as many requests are admitted as half of the memory limit holds', () => {
  const mib = 1024 * 1024;
  expect([0, 64 * mib, 512 * mib, 8_192 * mib].map(defaultMaxActive)).toEqual([20_000, 512, 4_096, 20_000]);
});

describe('an ingress that is behind', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ ingress: { SHED_DELAY_MS: '1' }, worker: { SLOTS: '200' } });
  });
  afterAll(() => cluster.stop());

  it('refuses new requests, and serves again later', async () => {
    const body = chat(`tokens=1`, { user: 'x'.repeat(200_000) });
    const refused: Response[] = [];
    await until(async () => {
      const answers = await Promise.all(Array.from({ length: 150 }, () => post({ ...cluster, body })));
      refused.push(...answers.filter(({ status }) => status === 503));
      return refused.length > 0;
    }, 20_000);
    expect(await refused[0]?.json()).toMatchObject({ error: { code: 'overloaded' } });
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    await until(async () => (await post({ ...cluster, body: chat('tokens=1') })).status === 200, 10_000);
  });
});
