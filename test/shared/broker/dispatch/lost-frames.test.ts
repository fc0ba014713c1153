import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from 'vitest';
import { FrameMemory } from '#shared/broker/worker/frame-memory.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import { jobDone } from '../../../helpers/broker/job-done.ts';
import type { TappedBroker } from '../../../helpers/broker/tapped-broker.ts';
import { until } from '../../../helpers/until.ts';

/** Drops the frames of a worker for which `isLost` returns true, like a broken connection. */
function loseFrames({ loseSent }: TappedBroker, isLost: (kind: string, seq: string) => boolean): void {
  loseSent(({ subject, reply = '' }) => {
    const [kind = '', seq = ''] = subject.split('.').slice(-2);
    return subject.includes('.reply.') && isLost(kind, seq === '_' ? reply : seq);
  });
}

/** Drops each of these frames the first time it is sent. @returns the frames not sent yet */
function loseOnce(worker: TappedBroker, frames: readonly string[]) {
  const left = new Set(frames);
  // Ends that nobody has asked for are kept while the connection is young.
  worker.seemConnected('just now');
  loseFrames(worker, (kind, seq) => left.delete(`${kind}${seq}`));
  return { left };
}

const all = ['d0', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7', 'e8'];

describe.concurrent('frames that are lost once', () => {
  it.for([
    { what: 'the first', lost: ['d0'] },
    { what: 'several', lost: ['d2', 'd3', 'd6'] },
    { what: 'all', lost: all },
    { what: 'several and the last', lost: ['d2', 'd3', 'e8'] },
  ])('$what are sent again', async ({ lost }, { start, expect }) => {
    // A job that was offered without any answer is repeated, as is a job that loses all frames.
    const offers = !lost.includes('e8');
    const { ingress, addWaiting } = await start({ ingress: { offers } });
    const [worker] = await addWaiting({});
    const { left } = loseOnce(made(worker), lost);
    const sent = ingress.send({ steps: Array.from('abcdefgh').flatMap((write) => [{ write }, { waitMs: 5 }]) });
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1, text: 'abcdefgh' });
    expect(left.size).toBe(0);
  });

  it.for([
    { what: 'the only one', size: 1, lost: 'e0' },
    { what: 'one of several', size: 512 * 1024, lost: 'd1' },
  ])('$what, of an answer that is not streamed: is sent again too', async ({ size, lost }, { start, expect }) => {
    const { ingress, addWorker } = await start({ ingress: { offers: false } });
    const { left } = loseOnce(await addWorker(), [lost]);
    const pieces = ['a', 'b'].map((letter) => letter.repeat(size));
    const sent = ingress.send({ steps: pieces.map((write) => ({ write })), stream: false });
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1 });
    expect(sent.text() === pieces.join('')).toBe(true);
    expect(left.size).toBe(0);
  });
});

describe.concurrent('frames that are lost', () => {
  it.for<[string, number | undefined, string]>([
    ['for longer than a second are sent again', undefined, 'done'],
    ['beyond the memory that keeps them end a stream with an error, and its generation', 200, 'failed'],
  ])('%s', async ([, maxBytes, state], { ingress, addWorker, expect }) => {
    let aborted = false;
    const worker = await addWorker({
      memory: new FrameMemory(maxBytes),
      handler: async (_, reply, signal) => {
        signal.addEventListener('abort', () => (aborted = true));
        for (let count = 0; count < 200 && !signal.aborted; count += 1) {
          reply.write(`${count} `);
          await sleep(20);
        }
        return jobDone;
      },
    });
    // Frames are kept only because no dispatcher has confirmed them.
    worker.seemConnected('long ago');
    let outage = false;
    let lost = 0;
    loseFrames(worker, (kind) => {
      if (outage && kind === 'd') lost += 1;
      return outage;
    });
    const sent = ingress.send({});
    await until(() => sent.text().length > 10);
    outage = true;
    await until(() => lost >= 75);
    outage = false;
    expect((await sent.finished).state).toBe(state);
    const numbers = sent.text().trim().split(' ').map(Number);
    expect(numbers).toEqual(numbers.map((_, at) => at));
    if (state === 'done') return expect(numbers).toHaveLength(200);
    expect(sent.error()?.code).toBe('worker_lost');
    await until(() => aborted);
  });
});

/** As long as the titles below say. */
const outOfReachMs = 3_000;
const numbers = (count: number): string => Array.from({ length: count }, (_, at) => `${at}\n`).join('');

describe.concurrent('an ingress', () => {
  it.for<[string, 'cut' | 'pause']>([
    ['whose link is cut for three seconds gets every frame of its streams', 'cut'],
    ['whose link stands still for three seconds gets every frame of its streams', 'pause'],
  ])('%s', async ([, fault], { addFarIngress, addWorker, expect }) => {
    const { far, proxy } = await addFarIngress();
    const { id, seemConnected } = await addWorker();
    // All frames are kept while the connection is young.
    seemConnected('long ago');
    await until(() => far.workers.get(id) !== undefined);
    const streams = Array.from({ length: 5 }, () => far.send({ steps: [{ count: 150, everyMs: 30 }] }));
    // This job ends while its ingress cannot be reached.
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

describe.concurrent('a message of an ingress', () => {
  it.for<[string, RegExp, boolean, number]>([
    ['a grant', /\.inbox\..+\.claim\./, false, 2],
    ['an offer', /\.inbox\..+\.offer\./, true, 1],
  ])('is missed within seconds if it is lost: %s', async ([, lostSubject, offers, attempts], { start, expect }) => {
    const { ingress, addWaiting } = await start({ ingress: { offers } });
    await addWaiting({});
    let lost = 0;
    ingress.loseSent(({ subject }) => lost === 0 && lostSubject.test(subject) && (lost += 1) > 0);
    const report = await ingress.send({ steps: [{ write: 'x' }] }).finished;
    expect(lost).toBe(1);
    expect(report).toMatchObject({ state: 'done', attempts });
    // Before the silence of its worker would be noticed.
    expect(report.endedAt - report.queuedAt).toBeLessThan(9_000);
  });

  it('with a long body does not make the waiting worker count as silent', async ({ start, expect }) => {
    const { ingress, addWorker } = await start({ ingress: { timeouts: { silenceMs: 5_000 } } });
    await addWorker();
    ingress.delayFlush(() => sleep(1_000));
    const body = Buffer.from(JSON.stringify({ steps: [{ digest: true }], filler: 'x'.repeat(7.25 * 1024 * 1024) }));
    const report = await ingress.send({ body }).finished;
    expect(report).toMatchObject({ state: 'done', attempts: 1 });
    expect(report.endedAt - report.queuedAt).toBeGreaterThan(6_000);
  });
});
