import { describe } from 'vitest';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { Parties, TestRequest } from '../../../../helpers/broker/broker-parties.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import type { Step } from '../../../../helpers/broker/scripted-handler.ts';
import { until } from '../../../../helpers/until.ts';

type Send = (request: TestRequest & { model: string }) => Promise<string>;

/** Three workers with the models `demo` and `other`, one of which is named `sick`. `send` returns the text of an answer. */
async function addThree({ ingress, addWaiting }: Parties): Promise<{ send: Send; sick: LiveWorker }> {
  const models = ['demo', 'other'].map((id) => ({ id, capabilities: ['stream' as const] }));
  await addWaiting(...['sick', 'b', 'c'].map((id) => ({ id, slots: 4, models })));
  const sick = made(ingress.workers.get('sick'));
  const send: Send = async ({ model, ...request }) => {
    const place = () => [...ingress.workers.pools()].map((pool) => ({ pool, model }));
    return (await ingress.send({ ...request, place }).finished).text;
  };
  return { send, sick };
}

const whoami: Step[] = [{ whoami: true }];

describe.concurrent('an ejection', () => {
  it('concerns one model: the worker serves another one, and that does not end it', async ({ start, expect }) => {
    const { send, sick } = await addThree(await start());
    const broken: Step[] = [{ only: 'sick', fail: 'upstream_failed' }, ...whoami];
    // Its peers serve what it fails with.
    await until(async () => {
      await send({ model: 'demo', steps: broken });
      return sick.health.isEjected('demo');
    });
    const served = new Set<string>();
    // Three probes fail in this time.
    for (const end = performance.now() + 3_500; performance.now() < end;) {
      const [who, other] = await Promise.all([
        send({ model: 'demo', steps: broken }),
        send({ model: 'other', steps: [{ waitMs: 10 }, ...whoami] }),
      ]);
      expect(sick.health.isEjected('demo')).toBe(true);
      expect(who).not.toBe('sick');
      served.add(other);
    }
    expect(served).toContain('sick');
  });

  it('for slowness ends with a streamed answer in time, and not with a whole one', async ({ start, expect }) => {
    const { send, sick } = await addThree(await start());
    const untilServed = async (stream: boolean): Promise<void> =>
      until(async () => (await send({ model: 'demo', stream, steps: whoami })) === 'sick');
    sick.health.eject('demo', 'slow', performance.now());
    await untilServed(false);
    expect(sick.health.isEjected('demo')).toBe(true);
    await untilServed(true);
    expect(sick.health.isEjected('demo')).toBe(false);
  });

  it('ends when the worker does not serve the model any more', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const { worker, id } = await addWorker();
    const live = ingress.workers.get(id);
    live?.health.eject('demo', 'slow', performance.now());
    expect(live?.health.isEjected()).toBe(true);
    worker.update({ models: [{ id: 'new', capabilities: ['stream'] }] });
    await until(() => live?.health.isEjected() === false);
    expect(live?.pool.models.map((model) => model.id)).toEqual(['new']);
  });
});
