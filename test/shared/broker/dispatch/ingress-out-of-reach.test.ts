import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from 'vitest';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import { until } from '../../../helpers/until.ts';

/** As long as the titles say. */
const outOfReachMs = 3_000;

const numbers = (count: number): string => Array.from({ length: count }, (_, at) => `${at}\n`).join('');

describe.concurrent('an ingress', () => {
  it.for<[string, 'cut' | 'pause']>([
    ['whose link is cut for three seconds gets every frame of its streams', 'cut'],
    ['whose link stands still for three seconds gets every frame of its streams', 'pause'],
  ])('%s', async ([, fault], { start, expect }) => {
    const { addFarIngress, addWorker } = await start();
    const { far, proxy } = await addFarIngress();
    const { id, seemConnected } = await addWorker();
    // All is kept while the connection is young.
    seemConnected('long ago');
    await until(() => far.workers.get(id) !== undefined);
    const streams = Array.from({ length: 5 }, () => far.send({ steps: [{ count: 150, everyMs: 30 }] }));
    // This one ends while nobody can tell its ingress.
    const short = far.send({ steps: [{ count: 50, everyMs: 20 }] });
    await until(() => [...streams, short].every(({ text }) => text().length > 10));
    proxy[fault]();
    await sleep(outOfReachMs);
    proxy.resume();
    const served = { state: 'done', attempts: 1 };
    for (const { finished } of streams) expect(await finished).toMatchObject({ ...served, text: numbers(150) });
    expect(await short.finished).toMatchObject({ ...served, text: numbers(50) });
  });
});
