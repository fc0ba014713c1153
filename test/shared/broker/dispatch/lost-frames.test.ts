import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it, type TestContext } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { FrameMemory } from '#shared/broker/worker/frame-memory.ts';
import { noUsage } from '#shared/core/usage.ts';
import { grantAsOlder } from '../../../helpers/broker/grant-as-older.ts';
import { startParties, untilOffersAreTaken, type Parties } from '../../../helpers/broker/broker-parties.ts';
import { until } from '../../../helpers/until.ts';

async function start(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  timeouts = {},
  offers = true,
): Promise<Parties> {
  const parties = await startParties({ ingress: { timeouts, offers } });
  onTestFinished(() => parties.close());
  return parties;
}

/** Loses some of a worker's frames, as a connection does that breaks: those for which `isLost` holds. */
function loseFrames(broker: Broker, isLost: (kind: string, seq: number) => boolean): void {
  const publish = broker.nc.publish.bind(broker.nc);
  broker.nc.publish = (subject, payload, options) => {
    const [kind = '', seq] = subject.split('.').slice(-2);
    if (subject.includes('.reply.') && isLost(kind, Number(seq === '_' ? options?.reply : seq))) return;
    publish(subject, payload, options);
  };
}

/** Loses each of these frames the first time it is sent. @returns those that were not sent yet */
function loseOnce(broker: Broker, frames: readonly string[]): ReadonlySet<string> {
  const left = new Set(frames);
  // Ends that nobody has asked for are kept while the connection is young.
  const connectedSince = performance.now();
  Object.defineProperty(broker, 'connectedSince', { get: () => connectedSince });
  loseFrames(broker, (kind, seq) => left.delete(`${kind}${seq}`));
  return left;
}

describe.concurrent.each([
  { where: 'beside their subject', isOlder: false },
  { where: 'in their subject', isOlder: true },
])('frames with numbers $where that are lost', ({ isOlder }) => {
  const letters = 'abcdefgh'.split('');

  it.for<[string, string[]]>([
    ['the first', ['d0']],
    ['one in the middle', ['d3']],
    ['several', ['d2', 'd3', 'd6']],
    ['the last one', ['e8']],
    ['all', ['d0', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7', 'e8']],
  ])('%s: are sent again, and the answer is whole', async ([, lost], context) => {
    const { expect } = context;
    // A job that was offered without any answer is done again; so is one of which all frames are lost.
    const offers = !lost.includes('e8');
    const { ingress, addWorker } = await start(context, {}, offers);
    if (isOlder) grantAsOlder(ingress.broker);
    const { broker } = await addWorker();
    if (offers) await untilOffersAreTaken(ingress);
    const left = loseOnce(broker, lost);
    const sent = ingress.send({ steps: letters.flatMap((write) => [{ write }, { waitMs: 5 }]) });
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1 });
    expect(sent.text()).toBe('abcdefgh');
    expect(left.size).toBe(0);
  });

  it.for<[string, number, string[]]>([
    ['the only one', 1, ['e0']],
    ['one of several', 512 * 1024, ['d1']],
  ])('%s, of an answer that is not streamed: are sent again too', async ([, size, lost], context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context, {}, false);
    if (isOlder) grantAsOlder(ingress.broker);
    const { broker } = await addWorker();
    const left = loseOnce(broker, lost);
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
  ])('%s', async ([, maxBytes, state], context) => {
    const { expect } = context;
    // Longer than it takes on a busy machine to lose as many.
    const { ingress, addWorker } = await start(context, { silenceMs: 10_000 });
    let aborted = false;
    const { broker } = await addWorker({
      memory: new FrameMemory(maxBytes),
      handler: async (_, reply, signal) => {
        signal.addEventListener('abort', () => {
          aborted = true;
        });
        for (let count = 0; count < 200 && !signal.aborted; count += 1) {
          reply.write(`${count} `);
          await sleep(20);
        }
        return { usage: noUsage, finishReason: 'stop' };
      },
    });
    // The connection counts as old: what is kept is kept because nobody has confirmed it.
    Object.defineProperty(broker, 'connectedSince', { get: () => performance.now() - 60_000 });
    let outage = false;
    let lost = 0;
    loseFrames(broker, (kind) => {
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

  it('for good move a job that the client has seen nothing of', { timeout: 15_000 }, async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context, { silenceMs: 3_000 }, false);
    const { broker } = await addWorker({ id: 'one' });
    loseFrames(broker, () => true);
    const sent = ingress.send({ steps: [{ whoami: true }] });
    await until(() => sent.job.state === 'claimed');
    await addWorker({ id: 'two' });
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 2 });
    expect(sent.text()).toBe('two');
  });
});

describe.concurrent.each([
  { what: 'a grant', subject: /\.inbox\..+\.claim\./, offers: false, attempts: 2 },
  { what: 'an offer', subject: /\.inbox\..+\.offer\./, offers: true, attempts: 1 },
])('$what that is lost', ({ subject: lostSubject, offers, attempts }) => {
  it('is found out within seconds, and the job goes to a worker', { timeout: 15_000 }, async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context, {}, offers);
    await addWorker();
    if (offers) await untilOffersAreTaken(ingress);
    const publish = ingress.broker.publish.bind(ingress.broker);
    let lost = 0;
    ingress.broker.publish = (subject, payload, reply) => {
      if (lost === 0 && lostSubject.test(subject)) lost += 1;
      else publish(subject, payload, reply);
    };
    const sent = ingress.send({ steps: [{ write: 'x' }] });
    const report = await sent.finished;
    expect(lost).toBe(1);
    expect(report).toMatchObject({ state: 'done', attempts });
    expect(report.endedAt - report.queuedAt).toBeLessThan(6_000);
  });
});

describe.concurrent('a body that is long on its way', () => {
  it('does not make its worker count as silent', { timeout: 15_000 }, async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context, { silenceMs: 5_000 });
    await addWorker();
    const { nc } = ingress.broker;
    const flush = nc.flush.bind(nc);
    nc.flush = async () => {
      await sleep(1_000);
      await flush();
    };
    const body = Buffer.from(JSON.stringify({ steps: [{ digest: true }], filler: 'x'.repeat(7.25 * 1024 * 1024) }));
    const report = await ingress.send({ body }).finished;
    expect(report).toMatchObject({ state: 'done', attempts: 1 });
    expect(report.endedAt - report.queuedAt).toBeGreaterThan(6_000);
  });
});
