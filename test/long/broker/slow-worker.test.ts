import { describe } from 'vitest';
import { addFourWorkers } from '../../helpers/broker/add-four-workers.ts';
import type { Parties } from '../../helpers/broker/broker-parties.ts';
import { it } from '../../helpers/broker/it-with-parties.ts';
import { measureLoad } from '../../helpers/broker/measure-load.ts';
import type { Step } from '../../helpers/broker/scripted-handler.ts';

/** Loads four workers lightly. */
async function load(parties: Parties, steps: Step[], warmUpMs: number) {
  const ingress = await addFourWorkers(parties);
  return measureLoad(ingress, steps, { clients: 8, pauseMs: 80, warmUpMs, ms: 1_500 });
}

const serve: Step[] = [{ waitMs: 20 }, { write: 'x' }];

describe.concurrent('one of four workers that is slow', () => {
  it.for<[string, Step, boolean]>([
    ['never gives a first token, is ejected, and its jobs move to others', { only: 'sick', hang: true }, true],
    ['gives it 8 s late, is ejected, and its jobs move to others', { only: 'sick', waitMs: 8_000 }, true],
    ['gives it 4 s late, gets hardly a job, ejected or not', { only: 'sick', waitMs: 4_000 }, false],
  ])('and %s', async ([, step, isEjected], { start, expect }) => {
    const parties = await start();
    const { jobs, failed, moved, ms } = await load(parties, [step, ...serve], 3_500);
    expect(failed).toBe(0);
    expect(moved / jobs).toBeLessThan(0.04);
    expect(ms.at(-1)).toBeLessThan(4_000);
    const { ejection } = parties.ingress.workers.get('sick')?.health.find('demo') ?? {};
    if (isEjected) expect(ejection?.reason).toBe('slow');
  });

  it('is not ejected when the others are as slow', async ({ start, expect }) => {
    const parties = await start();
    const { failed, moved } = await load(parties, [{ waitMs: 2_500 }, { write: 'x' }], 2_000);
    expect([failed, moved]).toEqual([0, 0]);
    for (const { health } of parties.ingress.workers.workers()) expect(health.isEjected()).toBe(false);
  });
});
