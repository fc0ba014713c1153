import type { Sent } from '../load/send-request.ts';
import type { Violation } from './violation.ts';

/** Checks that no tool call was executed twice, and that each answered call was executed. */
export function judgeTools(sent: readonly Sent[], executed: readonly string[]): Violation[] {
  const counts = new Map<string, number>();
  for (const id of executed) counts.set(id, (counts.get(id) ?? 0) + 1);
  return sent.flatMap(({ plan: { id, format }, answer }): Violation[] => {
    if (format !== 'tools') return [];
    const times = counts.get(id) ?? 0;
    if (times > 1) return [{ rule: 'executed twice', id, detail: `${times} times` }];
    return times === 0 && answer.finished ? [{ rule: 'not executed', id, detail: 'but answered' }] : [];
  });
}
