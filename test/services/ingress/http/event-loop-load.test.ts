import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EventLoopLoad } from '#services/ingress/http/event-loop-load.ts';
import { defaultMaxActive, HeldBodies } from '#services/ingress/http/held-bodies.ts';
import { useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { until } from '../../../helpers/until.ts';

/** Holds the event loop for a while, repeatedly, without using the processor. */
async function hold(ms: number, times: number): Promise<void> {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  for (let time = 0; time < times; time += 1) {
    Atomics.wait(nobody, 0, 0, ms);
    await sleep(1);
    await nextTurn();
  }
}

function start(maxMs: number): EventLoopLoad {
  const load = new EventLoopLoad(maxMs);
  onTestFinished(() => load.close());
  return load;
}

describe('an event loop', () => {
  it('is behind when its timers are late for about a second, until they are not', async () => {
    const load = start(200);
    const held = new HeldBodies(1_000, 10, load);
    const admit = () => held.admit({ id: 'key', limits: [] }).release();
    admit();
    await hold(500, 6);
    expect(load.isBehind).toBe(true);
    expect(admit).toThrow(errorWith('overloaded', { retryAfter: 1 }));
    await until(() => !load.isBehind);
    admit();
  });

  it('is not behind after a single pause, for example of a suspended process', async () => {
    const load = start(500);
    await hold(3_600, 1);
    await sleep(250);
    expect(load.isBehind).toBe(false);
  });

  it('is never behind if the check is switched off', async () => {
    const load = start(0);
    await hold(300, 2);
    expect(load.isBehind).toBe(false);
  });
});

it('the default limit admits as many requests as half of the memory holds', () => {
  const mib = 1024 * 1024;
  expect([0, 64 * mib, 512 * mib, 8_192 * mib].map(defaultMaxActive)).toEqual([20_000, 512, 4_096, 20_000]);
});

describe('an ingress that is behind', () => {
  const cluster = useScriptedCluster({}, {});

  it('refuses new requests, and serves again later', async () => {
    const ingress = await cluster.addIngress({ SHED_DELAY_MS: '150' });
    const ask = () => cluster.post([{ write: '{}' }], {}, ingress);
    ingress.process.child.kill('SIGSTOP');
    const asked = ask();
    // A standstill that puts the ingress far beyond its bound.
    await sleep(2_000);
    ingress.process.child.kill('SIGCONT');
    const refused = await asked;
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ error: { code: 'overloaded' } });
    await until(async () => (await ask()).status === 200);
  });
});
