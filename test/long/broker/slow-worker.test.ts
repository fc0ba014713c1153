import { describe, it } from 'vitest';
import { measureLoad } from '../../helpers/broker/measure-load.ts';
import type { Step } from '../../helpers/broker/scripted-handler.ts';
import { startFourWorkers } from '../../helpers/broker/start-four-workers.ts';

const serve: Step[] = [{ waitMs: 20 }, { write: 'x' }];
const light = { clients: 8, pauseMs: 80, warmUpMs: 1_000, ms: 1_500 };

describe('one of four workers that is slow', () => {
  it.for<[string, Step]>([
    ['never gives a first token', { only: 'sick', hang: true }],
    ['gives it 8 s late', { only: 'sick', waitMs: 8_000 }],
  ])('and %s is ejected, and its jobs move to others', { timeout: 30_000 }, async ([, step], context) => {
    const { ingress } = await startFourWorkers(context);
    const load = { ...light, warmUpMs: 3_500 };
    const { jobs, failed, moved, ms } = await measureLoad(ingress, [step, ...serve], load);
    context.expect(failed).toBe(0);
    context.expect(moved / jobs).toBeLessThan(0.04);
    context.expect(ms.at(-1)).toBeLessThan(4_000);
    context.expect(ingress.workers.get('sick')?.health.find('demo')?.ejection?.reason).toBe('slow');
  });

  it('and gives it 4 s late gets hardly a job, ejected or not', { timeout: 30_000 }, async (context) => {
    const { ingress } = await startFourWorkers(context);
    const steps: Step[] = [{ only: 'sick', waitMs: 4_000 }, ...serve];
    const { jobs, failed, moved, ms } = await measureLoad(ingress, steps, { ...light, warmUpMs: 3_500 });
    context.expect(failed).toBe(0);
    context.expect(moved / jobs).toBeLessThan(0.04);
    context.expect(ms.at(-1)).toBeLessThan(4_000);
  });

  it('is not ejected when the others are as slow', { timeout: 30_000 }, async (context) => {
    const { ingress } = await startFourWorkers(context);
    const steps: Step[] = [{ waitMs: 2_500 }, { write: 'x' }];
    const { failed, moved } = await measureLoad(ingress, steps, { ...light, warmUpMs: 2_000, ms: 2_000 });
    context.expect([failed, moved]).toEqual([0, 0]);
    for (const { health } of ingress.workers.workers()) context.expect(health.isEjected()).toBe(false);
  });
});
