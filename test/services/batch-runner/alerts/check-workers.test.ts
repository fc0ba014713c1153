import { describe, expect, it } from 'vitest';
import { checkWorkers } from '#services/batch-runner/alerts/check-workers.ts';
import { WorkerView, type WorkerProcess, type WorkersSnapshot } from '#services/batch-runner/alerts/worker-view.ts';
import { emptyIngressStats, publishIngressStats, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { startParties } from '../../../helpers/broker/broker-parties.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';
import { openAlerts } from '../../../helpers/webhooks/open-test-webhooks.ts';

const data = { id: 'a.w1', tier: 'gpu', host: 'box' } as const;
const worker: WorkerProcess = { ...data, startedAt: 1_000 };
const dayMs = 86_400_000;

type Seen = WorkerProcess & { trouble?: WorkersSnapshot['alive'][number]['trouble'] };

/** The view of a process that has listened for long. */
function seen({
  alive = [],
  lost = [],
  ...more
}: Partial<Omit<WorkersSnapshot, 'alive'>> & { alive?: Seen[] }): WorkersSnapshot {
  const known = new Set(alive.map(({ id }) => id));
  const all = alive.map(({ trouble, ...process }) => ({ ...process, trouble }));
  return { known, models: new Set(), knowsEjected: true, listenedMs: 120_000, ...more, alive: all, lost };
}

async function open() {
  const { sent, known, states } = await openAlerts('rtr.worker.*');
  return {
    look: (view: WorkersSnapshot, now?: number) => checkWorkers(view, states, now),
    sent,
    known: () => known('workers'),
  };
}

describe('a worker', () => {
  it('that is lost is reported once, however many runners check, and once when it is back', async () => {
    const { look, sent } = await open();
    await look(seen({ alive: [worker] }));
    expect(await sent()).toEqual([]);
    const gone = seen({ lost: [worker] });
    await Promise.all([look(gone), look(gone), look(gone)]);
    await look(gone);
    expect(await sent()).toEqual([{ type: 'rtr.worker.lost', data }]);
    const again = seen({ alive: [{ ...worker, startedAt: 2_000 }] });
    await Promise.all([look(again), look(again)]);
    const back = { type: 'rtr.worker.back', data: { ...data, after: 'lost' } };
    expect((await sent()).filter(({ type }) => type === back.type)).toEqual([back]);
    // Another process saw only the loss of the previous process.
    await look(gone);
    expect(await sent()).toHaveLength(2);
  });

  it('that was stopped is not reported, and is forgotten by who has listened for long', async () => {
    const { look, sent, known } = await open();
    await look(seen({ alive: [worker] }));
    await look(seen({ listenedMs: 10_000 }));
    expect(await known()).toEqual(['a.w1']);
    await look(seen({}));
    expect(await known()).toEqual([]);
    expect(await sent()).toEqual([]);
  });

  it('that is lost for a day is dropped', async () => {
    const { look, known } = await open();
    await look(seen({ alive: [worker] }), 0);
    await look(seen({ lost: [worker] }), 1);
    await look(seen({}), dayMs);
    expect(await known()).toEqual(['a.w1']);
    await look(seen({}), dayMs + 2);
    expect(await known()).toEqual([]);
  });

  it('that is ejected or failing is reported with the reason, and stays so while no ingress reports its ejections', async () => {
    const { look, sent } = await open();
    await look(seen({ alive: [worker] }));
    await look(seen({ alive: [{ ...worker, trouble: { state: 'ejected', reason: 'slow', model: 'm' } }] }));
    await look(seen({ alive: [worker], knowsEjected: false }));
    expect(await sent()).toEqual([{ type: 'rtr.worker.ejected', data: { ...data, reason: 'slow', model: 'm' } }]);
    await look(seen({ alive: [worker] }));
    await look(seen({ alive: [{ ...worker, trouble: { state: 'failing', reason: 'unreachable' } }] }));
    const all = await sent();
    expect(all).toHaveLength(3);
    expect(all).toContainEqual({ type: 'rtr.worker.back', data: { ...data, after: 'ejected' } });
    expect(all).toContainEqual({ type: 'rtr.worker.failing', data: { ...data, reason: 'unreachable' } });
  });
});

const model = (id: string) => ({ id, capabilities: ['stream' as const] });
const soon = 4_000;

it('the models that workers serve exclude those whose workers all drain, fail or are ejected', async () => {
  const parties = stopAfterTest(await startParties());
  const { broker, workers } = parties.ingress;
  const view = stopAfterTest(new WorkerView(workers, broker));
  const first = await parties.addWorker({ models: [model('both'), model('first')] });
  const second = await parties.addWorker({ models: [model('both'), model('second')] });
  const models = (): string[] => [...(view.read(performance.now() + soon)?.models ?? [])].toSorted();
  await until(() => expect(models()).toEqual(['both', 'first', 'second']));

  const tell = (ejected: IngressStats['ejected']): void => {
    publishIngressStats(broker, 'another', { ...emptyIngressStats, at: Date.now(), ejected });
  };
  const eject = (name: string) => ({ worker: first.id, model: name, reason: 'slow' });
  tell([eject('first'), eject('both')]);
  await until(() => expect(models()).toEqual(['both', 'second']));
  tell([]);
  await until(() => models().length === 3);

  await second.worker.drain(0);
  await until(() => expect(models()).toEqual(['both', 'first']));
  first.worker.update({ accepting: false, reason: 'unreachable' });
  await until(() => models().length === 0);
});
