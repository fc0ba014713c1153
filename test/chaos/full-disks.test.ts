import { expect, inject, it } from 'vitest';
import { batchClients, completedOf, slowLines, submit, untilBatch } from '../helpers/batches/batch-clients.ts';
import { expectEachOnce } from '../helpers/batches/expect-each-once.ts';
import { purposesOf, uploadBytes } from '../helpers/batches/uploads.ts';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { startNatsCluster } from '../helpers/servers/start-nats-cluster.ts';
import { stopAfterTest } from '../helpers/stop-after-test.ts';
import { until } from '../helpers/until.ts';
import { startSmallDisks } from './faults/small-disks.ts';
import { temporaryFolder } from '../helpers/files/temporary-folder.ts';

const mebibyte = 1024 * 1024;
const natsNames = ['one', 'two', 'three'];

const { CHAOS_LINES: lines, CHAOS_SECONDS: seconds, CHAOS_KINDS: kinds } = process.env;
/** Whether the options select another run. */
const isOther = [lines, seconds, kinds].some((setting) => setting !== undefined);

it.skipIf(isOther)(
  'an upload to full disks is refused and leaves nothing, and a batch is completed once NATS has room again',
  { timeout: 400_000 },
  async ({ skip }) => {
    const count = 600;
    const folder = temporaryFolder();
    const disks = await startSmallDisks(folder, natsNames);
    if (!disks) return skip('the system permits no namespaces');
    stopAfterTest(disks);
    const nats = stopAfterTest(await startNatsCluster({ disks }));
    const cluster = stopAfterTest(await startCluster({ natsUrl: nats.url, worker: { SLOTS: '16' } }));
    await cluster.addBatchRunner();
    const { openai } = batchClients(cluster);
    const { id } = await submit(openai, slowLines(count, 300));
    await until(async () => (await completedOf(openai, id)) > 50, 60_000);
    await Promise.all(natsNames.map((name) => disks.fill(name)));
    const begun = performance.now();
    const refused: unknown = await uploadBytes(openai, 16 * mebibyte).catch((error: unknown) => error);
    expect(performance.now() - begun).toBeLessThan(45_000);
    expect(refused).toMatchObject({ code: expect.stringMatching(/^storage_full$|^store_unavailable$/) });
    expect(await purposesOf(openai)).toEqual(['batch']);
    expect((await openai.batches.retrieve(id)).status).toBe('in_progress');

    // A server whose disk is full switches JetStream off until it is started again.
    for (const name of natsNames) {
      await disks.empty(name);
      nats.kill(name);
      await nats.restart(name);
    }
    await nats.whole();
    const batch = await untilBatch(openai, id, undefined, 120_000);
    await expectEachOnce(openai, batch, { lines: count, redisUrl: inject('redisUrl'), prefix: cluster.prefix });
    await uploadBytes(openai, mebibyte);
    expect(await purposesOf(openai)).toEqual(['batch', 'batch_output', 'user_data']);
  },
);
