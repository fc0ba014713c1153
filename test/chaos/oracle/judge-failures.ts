import type { Sent } from '../load/send-request.ts';
import { outcomeOf } from '../report/outcomes.ts';
import type { Violation } from './violation.ts';

/** Checks that at most this share of the requests whose clients stay ends with a failure, poison aside. */
export function judgeFailures(sent: readonly Sent[], maxShare: number): Violation[] {
  const innocent = sent.filter((one) => !one.plan.poison && outcomeOf(one) !== 'left');
  const failed = innocent.filter((one) => outcomeOf(one) !== 'done').length;
  if (failed <= innocent.length * maxShare) return [];
  return [{ rule: 'too many failures', id: 'load', detail: `${failed} of ${innocent.length} requests` }];
}

/** Checks that each request is answered that was sent after all faults. */
export function judgeRecovery(probes: readonly Sent[]): Violation[] {
  return probes.flatMap((one): Violation[] => {
    const outcome = outcomeOf(one);
    const { format, ingress } = one.plan;
    const detail = `${outcome}: ${one.answer.status} ${one.answer.error}, ${format} at ingress ${ingress}`;
    return outcome === 'done' ? [] : [{ rule: 'not recovered', id: one.plan.id, detail }];
  });
}
