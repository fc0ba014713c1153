import type { Sent } from '../load/send-request.ts';
import type { Violation } from './violation.ts';

/** Checks that no tool call was executed twice, and that each answered call was executed. */
export function judgeTools(sent: readonly Sent[], executed: readonly string[]): Violation[] {
  const calls = Map.groupBy(executed, (id) => id);
  return sent.flatMap(({ plan: { id, format }, answer }): Violation[] => {
    if (format !== 'tools') return [];
    const times = calls.get(id)?.length ?? 0;
    if (times > 1) return [{ rule: 'executed twice', id, detail: `${times} times` }];
    return times === 0 && answer.finished ? [{ rule: 'not executed', id, detail: 'but answered' }] : [];
  });
}
