import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker } from '#shared/background/background-worker.ts';
import type { AuditEntry } from '#services/console/contract/audit.ts';
import { backgroundOperations } from '#services/console/api/background/background-operations.ts';
import { openHouse } from '../../../helpers/console/open-console.ts';
import { until } from '../../../helpers/until.ts';
import { denied } from '../../../helpers/console/refusals.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

async function open() {
  const opened: { access?: ConstructorParameters<typeof BackgroundJobs>[0]; jobs?: BackgroundJobs } = {};
  const house = await openHouse(['bob'], {
    furtherOperations: ({ accounts, prefix, log, webhooks }) => {
      const access = { url: inject('redisUrl'), prefix, log: silentLog };
      const jobs = new BackgroundJobs(access);
      onTestFinished(() => jobs.close());
      Object.assign(opened, { access, jobs });
      return backgroundOperations({ accounts, log, jobs, webhooks });
    },
  });
  const { access, jobs } = opened;
  if (!access || !jobs) throw new Error('the routes were not opened');
  return { ...house, access, jobs };
}

describe('background work in the console', () => {
  it('is shown to administrators: the queues, the failing jobs and why, and a job can be retried at once', async () => {
    const { ada, bob, access, jobs } = await open();
    let isBroken = true;
    const handle = async () => {
      if (isBroken) throw new Error('the store is away');
    };
    const worker = new BackgroundWorker<object>({ access, queue: 'batch-endings', concurrency: 1, handle });
    onTestFinished(() => worker.close());
    await jobs.add({ queue: 'batch-endings', id: 'batch_1', data: {} });
    await jobs.add({ queue: 'batch-slices', id: 'batch_2-0', data: {} });
    await until(async () => {
      const { queues, failing } = (await ada.get('/background')).body;
      expect(failing).toMatchObject([{ queue: 'batch-endings', id: 'batch_1', reason: 'the store is away' }]);
      expect(queues).toContainEqual({ name: 'batch-slices', waiting: 1, active: 0, delayed: 0 });
      expect(queues).toContainEqual({ name: 'batch-endings', waiting: 0, active: 0, delayed: 1 });
    });
    const job = { queue: 'batch-endings', id: 'batch_1' };
    expect(await bob.get('/background')).toMatchObject(denied);
    expect(await bob.post('/background/repeat', job)).toMatchObject(denied);
    expect((await ada.post('/background/repeat', { ...job, queue: 'none' })).status).toBe(400);
    // A job is not delayed while a try of its own fails.
    await until(async () => (await ada.post('/background/repeat', job)).body.repeated === true);
    isBroken = false;
    await until(async () => {
      await ada.post('/background/repeat', job);
      expect(worker.completions).toBe(1);
    });
    expect((await ada.post('/background/repeat', job)).body).toEqual({ repeated: false });
    expect((await ada.get('/background')).body.failing).toEqual([]);
    const notes = (await ada.get('/audit?action=background.repeat')).body.data;
    expect(new Set(notes.map(({ target }: AuditEntry) => target?.id))).toEqual(new Set(['batch_1']));
  });

  it('includes the webhooks with pending or dead deliveries', async () => {
    const { ada, bob, webhooks } = await open();
    const settings = { kind: 'user', events: ['batch.*'] };
    await ada.post('/webhooks', { ...settings, url: 'https://quiet.example.com/' });
    const { body: busy } = await bob.post('/webhooks', { ...settings, url: 'https://busy.example.com/' });
    expect((await ada.get('/background/webhooks')).body).toEqual([]);
    const event = { type: 'batch.failed', owners: [`user:${bob.id}`], data: { id: 'batch_1' } } as const;
    const emit = () => webhooks.outbox.emit({ id: createEventId(), ...event });
    await emit();
    const [due] = await webhooks.deliveries.takeDue(1);
    if (due) await webhooks.deliveries.end(due, { state: 'dead', counts: true, status: 500, error: 'no', ms: 7 });
    await emit();
    expect((await ada.get('/background/webhooks')).body).toEqual([{ webhook: busy.webhook, pending: 1, dead: 1 }]);
    expect(await bob.get('/background/webhooks')).toMatchObject(denied);
  });
});
