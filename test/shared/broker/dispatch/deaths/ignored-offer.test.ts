import { describe } from 'vitest';
import { placementsIn, type Parties, type TestJob } from '../../../../helpers/broker/broker-parties.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import type { Step } from '../../../../helpers/broker/scripted-handler.ts';
import { until } from '../../../../helpers/until.ts';

/** Three workers that take offers, and `only`, which has jobs offered to this one of them. */
async function addThree({ ingress, addWaiting }: Parties) {
  const made = await addWaiting(...['one', 'two', 'three'].map((id) => ({ id, kind: id })));
  let wanted: string | undefined = 'one';
  const place = (avoid: ReadonlySet<string>) =>
    placementsIn(
      ingress.workers,
      ({ workers }) => [...workers].some(({ id }) => wanted === undefined || id === wanted),
      avoid,
    );
  return {
    send: (steps: Step[]): TestJob => ingress.send({ steps, place }),
    only: (id: string | undefined) => void (wanted = id),
    freeze: (id: string) => made.find((each) => each.id === id)?.freeze(),
    freezeAll: () => made.map(({ freeze }) => freeze()),
    /** Those whose process has ended. */
    ended: () => made.filter(({ broker }) => broker.nc.isClosed()).map(({ id }) => id),
  };
}

/** Ends whoever serves it. */
const kill: Step[] = [{ die: true }];

describe.concurrent('an offer that is not answered', () => {
  it('counts as a death of a worker that sends no heartbeats either', async ({ start, expect }) => {
    const { send, only, freeze, ended } = await addThree(await start());
    freeze('one');
    const sent = send(kill);
    expect(sent.job.attempt?.worker.id).toBe('one');
    await until(() => sent.job.death !== undefined, 5_000);
    only(undefined);
    expect((await sent.finished).error?.code).toBe('workers_died');
    expect(ended()).toHaveLength(1);
  });

  it('counts as none while no heartbeats come at all: the broker may stand still', async ({ start, expect }) => {
    const { send, only, freezeAll } = await addThree(await start());
    const goOn = freezeAll();
    const sent = send([{ whoami: true }]);
    await until(() => sent.job.attempt?.worker.id !== 'one', 5_000);
    expect(sent.job.death).toBeUndefined();
    for (const each of goOn) each();
    only(undefined);
    expect((await sent.finished).state).toBe('done');
  });

  it('is not made to a third worker before it is clear what became of the second', async ({ start, expect }) => {
    const { send, only, freeze, ended } = await addThree(await start());
    const sent = send(kill);
    freeze('two');
    only('two');
    await until(() => sent.job.death !== undefined && sent.job.attempt?.worker.id === 'two', 5_000);
    only(undefined);
    expect((await sent.finished).error?.code).toBe('workers_died');
    expect(ended()).toEqual(['one']);
  });
});
