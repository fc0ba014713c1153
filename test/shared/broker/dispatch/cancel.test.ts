import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import type { GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import type { WorkerMeter } from '#shared/broker/worker/worker-meter.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import { jobDone } from '../../../helpers/broker/job-done.ts';
import { testWorker } from '../../../helpers/broker/test-worker.ts';
import { least } from '../../../helpers/least.ts';
import { until } from '../../../helpers/until.ts';

/** A handler that writes a first piece, if one is given, and then waits for its abort. */
function watched(firstPiece?: string) {
  let count = 0;
  let abortedAt: number | undefined;
  return {
    started: () => count,
    aborted: () => abortedAt,
    handler: async (_: GrantedJob, reply: Reply, signal: AbortSignal): Promise<JobEnd> => {
      count += 1;
      if (firstPiece !== undefined) reply.write(firstPiece);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      abortedAt = performance.now();
      throw signal.reason;
    },
  };
}

/** Resolves when a connection is lost, even if it is back at once. */
async function disconnected({ nc }: Broker): Promise<void> {
  for await (const { type } of nc.status()) if (type === 'disconnect') return;
}

describe('a client that leaves', () => {
  it('before the claim: its ticket is refused, and no job runs', async ({ ingress, addWorker }) => {
    const { handler, started } = watched();
    const { worker } = await addWorker({ slots: 0, handler });
    const sent = ingress.send({});
    await until(() => sent.job.tickets.isAdmitted);
    sent.cancel();
    expect((await sent.finished).state).toBe('cancelled');
    worker.update({ slots: 1 });
    await ingress.broker.nc.flush();
    await sleep(200);
    expect(started()).toBe(0);
    expect(worker.busy).toBe(0);
  });

  it.for<[string, string | undefined, boolean]>([
    ['after the claim, before the first piece', undefined, true],
    ['after the claim, of an answer that is not streamed', undefined, false],
    ['in the middle of a stream', 'a piece', true],
  ])('%s: the worker aborts within 200 ms', async ([, piece, stream], { ingress, addWorker }) => {
    const abort = async (): Promise<number> => {
      const { handler, started, aborted } = watched(piece);
      const { worker } = await addWorker({ handler });
      const sent = ingress.send({ stream });
      await until(() => started() === 1 && (piece === undefined || sent.text() === piece));
      const cancelledAt = performance.now();
      sent.cancel();
      await until(() => aborted() !== undefined && worker.busy === 0);
      expect(await sent.finished).toMatchObject({ state: 'cancelled', error: undefined });
      expect(sent.error()).toBeUndefined();
      await worker.close();
      await until(() => ingress.workers.size === 0);
      return (aborted() ?? Infinity) - cancelledAt;
    };
    expect(await least(abort, 200)).toBeLessThan(200);
  });

  it('right after the grant: the worker ends the job that it has just begun', async ({ start }) => {
    const { ingress, addWorker } = await start({ ingress: { offers: false } });
    const { handler, aborted } = watched();
    const { worker } = await addWorker({ handler });
    const sent = ingress.send({});
    ingress.onSend((message, send) => {
      send(message);
      if (/\.inbox\..+\.claim\./.test(message.subject)) queueMicrotask(() => sent.cancel());
    });
    await until(() => aborted() !== undefined && worker.busy === 0);
    expect((await sent.finished).state).toBe('cancelled');
  });

  it('right after the offer: the worker ends the job that it has taken, and no job runs', async ({ start }) => {
    const { ingress, addWorker } = await start();
    const { handler, started } = watched();
    const outcomes: string[] = [];
    const finished: WorkerMeter['finished'] = ({ outcome }) => void outcomes.push(outcome);
    const { worker } = await addWorker({ handler, meter: { ...testWorker.meter, finished } });
    // The first offers are refused while the worker still looks through its lanes.
    await until(() => {
      const sent = ingress.send({});
      const { state } = sent.job;
      sent.cancel();
      expect(state).toBe('claimed');
      return outcomes.length > 0;
    });
    await until(() => worker.busy === 0);
    expect([started(), new Set(outcomes)]).toEqual([0, new Set(['cancelled'])]);
  });

  it('while its large body is on the way: the rest is not sent, and no job runs', async ({ ingress, addWorker }) => {
    const { handler, started } = watched();
    const { worker } = await addWorker({ handler });
    const sent = ingress.send({ body: Buffer.alloc(64 * 1024 * 1024, 'x') });
    ingress.onSend((message, send) => {
      send(message);
      if (sent.job.state === 'claimed') queueMicrotask(() => sent.cancel());
    });
    await sent.finished;
    await until(() => worker.busy === 0);
    expect(ingress.broker.nc.stats().outBytes).toBeLessThan(16 * 1024 * 1024);
    expect(started()).toBe(0);
  });

  it('while the worker is disconnected: it aborts the job at the next keep-alive', async ({ ingress, addWorker }) => {
    const { handler, started, aborted } = watched('a piece');
    const { broker } = await addWorker({ handler });
    const sent = ingress.send({});
    await until(() => started() === 1 && sent.text() === 'a piece');
    const lost = disconnected(broker);
    await broker.nc.reconnect();
    await lost;
    expect(aborted()).toBeUndefined();
    sent.cancel();
    await until(() => aborted() !== undefined);
  });
});

describe.concurrent('a handler', () => {
  it('that throws before its first await frees its slot', async ({ ingress, addWorker, expect }) => {
    const handler = (): never => {
      throw new Error('a bug');
    };
    const { worker } = await addWorker({ handler });
    expect((await ingress.send({}).finished).error?.code).toBe('internal');
    await until(() => worker.busy === 0);
  });

  it('that ignores its abort keeps its slot until it ends, and its output goes nowhere', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const gate = Promise.withResolvers<void>();
    const handler: JobHandler = async (_, reply) => {
      await gate.promise;
      reply.write('too late');
      return jobDone;
    };
    const { worker } = await addWorker({ handler });
    const sent = ingress.send({});
    await until(() => worker.busy === 1 && sent.job.state === 'claimed');
    sent.cancel();
    await sent.finished;
    expect(worker.busy).toBe(1);
    gate.resolve();
    await until(() => worker.busy === 0);
    expect(sent.text()).toBe('');
  });
});
