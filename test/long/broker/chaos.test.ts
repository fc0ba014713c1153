import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startParties } from '../../helpers/broker/broker-parties.ts';
import { startNats } from '../../helpers/servers/start-nats.ts';

const pieces = (count: number): string => Array.from({ length: count }, (_, at) => `${at}\n`).join('');

describe('a minute of bad luck', () => {
  it('ends every job, and each either exactly or with an error', { timeout: 240_000 }, async () => {
    const nats = await startNats();
    onTestFinished(() => nats.stop());
    const parties = await startParties({ natsUrl: nats.url });
    onTestFinished(() => parties.close());
    const workers = [await parties.forkWorker(), await parties.forkWorker(), await parties.forkWorker()];
    const jobs: ReturnType<typeof parties.ingress.send>[] = [];
    const end = performance.now() + 60_000;
    const load = (async () => {
      for (let at = 0; performance.now() < end; at += 1) {
        const stream = at % 2 === 0;
        jobs.push(
          parties.ingress.send({ steps: [{ waitMs: (at * 7) % 50 }, { count: 20, everyMs: at % 20 }], stream }),
        );
        await sleep(15);
      }
    })();
    for (let round = 0; performance.now() < end; round += 1) {
      await sleep(3_000 + Math.random() * 1_000);
      if (round % 3 === 0) {
        await nats.kill();
        await sleep(Math.random() * 1_000);
        await nats.restart({ keepData: round % 2 === 0 });
      } else if (round % 3 === 1) {
        const [doomed] = workers.splice(0, 1);
        await doomed?.process.kill();
        workers.push(await parties.forkWorker());
      } else {
        const victim = workers[0]?.process.child;
        victim?.kill('SIGSTOP');
        await sleep(Math.random() * 5_000);
        victim?.kill('SIGCONT');
      }
    }
    await load;
    const reports = await Promise.all(jobs.map(({ finished }) => finished));
    const failed = reports.filter(({ state }) => state === 'failed');
    for (const { error } of failed) expect(error?.code).toBe('worker_lost');
    for (const [at, { text }] of jobs.entries()) if (reports[at]?.state === 'done') expect(text()).toBe(pieces(20));
    // Only what a dead or frozen worker was streaming may fail.
    expect(failed.length).toBeLessThan(jobs.length / 20);
    expect(parties.ingress.dispatcher.active).toBe(0);
  });
});
