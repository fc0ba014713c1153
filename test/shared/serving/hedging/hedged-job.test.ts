import { describe } from 'vitest';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import type { RouterError } from '#shared/core/errors.ts';
import { HedgedJob } from '#shared/serving/hedging/hedged-job.ts';
import { Hedges } from '#shared/serving/hedging/hedges.ts';
import { untilOffersAreTaken, type Parties } from '../../../helpers/broker/broker-parties.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import { modelSink } from '../../../helpers/serving/serving-parts.ts';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { until } from '../../../helpers/until.ts';

/** Two workers, of which `own` gets conversation 7 first, and requests for it that are late after `lateMs`. */
async function addTwo({ ingress, addWorker }: Parties, { budget = 1, lateMs = 50 } = {}) {
  const workers = [await addWorker(), await addWorker()];
  await untilOffersAreTaken(ingress);
  const [pool] = ingress.workers.pools();
  if (!pool) throw new Error('there is no pool');
  const placement = { pool, model: 'demo' };
  const own = (await ingress.send({ affinity: 7 }).finished).attempt?.worker.id ?? '';
  const other = workers.find(({ id }) => id !== own)?.id ?? '';
  const hedges = new Hedges();
  for (let sample = 0; sample < 20; sample += 1) hedges.countFirstToken(placement, lateMs);
  // Sums of twentieths are not exact.
  for (let earned = 0; earned < budget * 21; earned += 1) hedges.earn('name');

  const send = (steps: Step[]) => {
    const got = { begun: 0, text: '', ends: 0, errors: [] as RouterError[] };
    const request: JobRequest = {
      requestId: 'r',
      operation: 'generate',
      format: 'chat',
      stream: true,
      class: 'normal',
      sender: { owner: 'owner', key: 'key' },
      affinity: 7,
      place: () => [placement],
      tiers: () => ['gpu'],
    };
    const data = (bytes: Uint8Array): void => void (got.text += Buffer.from(bytes).toString());
    const sink = modelSink({
      begin: () => void (got.begun += 1),
      data,
      end: (bytes) => {
        data(bytes);
        got.ends += 1;
      },
      fail: (error) => void got.errors.push(error),
    });
    const body = Buffer.from(JSON.stringify({ steps }));
    const parts = { dispatcher: ingress.dispatcher, hedges, name: 'name' };
    return { job: new HedgedJob(parts, request, body, sink), got };
  };
  const areIdle = () => until(() => workers.every(({ worker }) => worker.busy === 0));
  return { send, own, other, hedges, workers, areIdle };
}

const whoami: Step[] = [{ whoami: true }];

describe.concurrent('a hedged request', () => {
  it('is served by a second worker if the first is late, which is cancelled then', async ({ start, expect }) => {
    const { send, own, other, hedges, areIdle } = await addTwo(await start());
    const { job, got } = send([{ only: own, waitMs: 60_000 }, ...whoami]);
    const { state, attempt, queuedAt, endedAt } = await job.finished;
    expect(got).toEqual({ begun: 1, text: other, ends: 1, errors: [] });
    expect([state, attempt?.worker.id, hedges.counts]).toEqual(['done', other, { won: 1, lost: 0 }]);
    expect(endedAt - queuedAt).toBeGreaterThanOrEqual(50);
    await areIdle();
  });

  it('is served by the first worker if that writes first, and the second is cancelled', async ({ start, expect }) => {
    const { send, own, other, hedges, workers, areIdle } = await addTwo(await start());
    // Until then the second one begins, although this process may stand still meanwhile.
    const { job, got } = send([{ only: own, waitMs: 4_000 }, { only: other, waitMs: 60_000 }, ...whoami]);
    await until(() => workers.every(({ worker }) => worker.busy === 1));
    const { state, attempt } = await job.finished;
    expect(got).toEqual({ begun: 1, text: own, ends: 1, errors: [] });
    expect([state, attempt?.worker.id, hedges.counts]).toEqual(['done', own, { won: 0, lost: 1 }]);
    await areIdle();
  });

  it('stays with one worker that is not late', async ({ start, expect }) => {
    const { send, own, hedges } = await addTwo(await start(), { lateMs: 10_000 });
    expect((await send(whoami).job.finished).attempt?.worker.id).toBe(own);
    expect([hedges.counts, hedges.spend('name')]).toEqual([{ won: 0, lost: 0 }, true]);
  });

  it('stays with one worker if no hedge is left', async ({ start, expect }) => {
    const { send, own, hedges } = await addTwo(await start(), { budget: 0 });
    const late = send([{ only: own, waitMs: 300 }, ...whoami]);
    expect((await late.job.finished).attempt?.worker.id).toBe(own);
    expect(late.got).toEqual({ begun: 1, text: own, ends: 1, errors: [] });
    expect(hedges.counts).toEqual({ won: 0, lost: 0 });
  });

  it('is served by the other worker if one fails', async ({ start, expect }) => {
    const { send, own, other } = await addTwo(await start(), { budget: 2 });
    const fails = { only: own, fail: 'invalid_request' as const };
    const first = send([{ only: own, waitMs: 300 }, fails, { waitMs: 600 }, ...whoami]);
    expect((await first.job.finished).attempt?.worker.id).toBe(other);
    expect(first.got).toEqual({ begun: 1, text: other, ends: 1, errors: [] });
    const second = send([{ only: own, waitMs: 600 }, { only: other, fail: 'invalid_request' }, ...whoami]);
    expect((await second.job.finished).attempt?.worker.id).toBe(own);
    expect(second.got).toEqual({ begun: 1, text: own, ends: 1, errors: [] });
  });

  it('fails once if both workers fail', async ({ start, expect }) => {
    const { send, own } = await addTwo(await start());
    const { job, got } = send([{ only: own, waitMs: 300 }, { waitMs: 100 }, { fail: 'invalid_request' }]);
    expect((await job.finished).state).toBe('failed');
    expect([got.begun, got.ends, got.errors.map(({ code }) => code)]).toEqual([0, 0, ['invalid_request']]);
  });

  it('ends at both workers if its client leaves', async ({ start, expect }) => {
    const { send, workers, areIdle } = await addTwo(await start());
    const { job, got } = send([{ waitMs: 60_000 }, ...whoami]);
    await until(() => workers.every(({ worker }) => worker.busy === 1));
    job.cancel();
    expect((await job.finished).state).toBe('cancelled');
    expect(got).toEqual({ begun: 0, text: '', ends: 0, errors: [] });
    await areIdle();
  });
});
