import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { placementsIn, startParties } from '../../../helpers/broker/broker-parties.ts';
import { jobDone } from '../../../helpers/broker/job-done.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const part = 512 * 1024;

describe.each([
  { way: 'by ticket', offers: false },
  { way: 'offered', offers: true },
])("a job's life, $way", ({ offers }) => {
  const parties = useStarted(() => startParties({ ingress: { offers } }));
  beforeAll(() => parties.addWaiting({ id: 'one', slots: 4 }));

  it('goes through its states to its end', async () => {
    const { finished, job } = parties.ingress.send({ steps: [{ write: 'Hel' }, { waitMs: 5 }, { write: 'lo' }] });
    expect(job.state).toBe(offers ? 'claimed' : 'queued');
    const report = await finished;
    const end = { finishReason: 'stop' };
    expect(report).toMatchObject({ state: 'done', attempts: 1, end, error: undefined, text: 'Hello' });
    expect(report.attempt?.worker.announcement.worker).toBe('one');
    expect(job.tickets.count).toBe(offers ? 0 : 1);
    expect(parties.ingress.dispatcher.activeJobs).toBe(0);
  });

  it("ends with the worker's own error before output, and after it", async () => {
    const before = parties.ingress.send({ steps: [{ fail: 'context_length_exceeded' }] });
    expect(await before.finished).toMatchObject({ state: 'failed', error: { code: 'context_length_exceeded' } });
    const after = parties.ingress.send({ steps: [{ write: 'x' }, { waitMs: 5 }, { fail: 'upstream_failed' }] });
    const error = { code: 'upstream_failed' };
    expect(await after.finished).toMatchObject({ state: 'failed', error, attempts: 1, text: 'x' });
  });

  // The longest has many parts and goes by ticket only: it is claimed in the same way.
  const sizes = [0, 1, part - 1, part, part + 1, ...(offers ? [] : [30 * 1024 * 1024])];
  it.each(sizes)('brings a body of %i bytes to the worker byte for byte', async (size) => {
    const { addWorker, ingress } = parties;
    const received = Promise.withResolvers<Buffer>();
    const { id } = await addWorker({
      kind: `size-${size}`,
      handler: async ({ body }) => {
        received.resolve(body);
        return jobDone;
      },
    });
    const body = randomBytes(size);
    const place = () => placementsIn(ingress.workers, ({ workers }) => [...workers].some((worker) => worker.id === id));
    expect((await ingress.send({ body, findPlacements: place }).finished).state).toBe('done');
    expect(body.equals(await received.promise)).toBe(true);
  });
});
