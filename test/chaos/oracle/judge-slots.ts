import type { Execution } from '../faults/engine-front.ts';
import type { Sent } from '../load/send-request.ts';
import type { Disturbances } from './disturbances.ts';
import type { Violation } from './violation.ts';

/** Milliseconds for a cancellation to reach the engine. */
const calmMs = 1_000;

/** Milliseconds after a fault of the components of this very request in which they detect their loss. */
const disturbedMs = 15_000;

/** The same for a killed ingress, which looks to its workers like one whose link is cut: its jobs go on for a minute. */
const killedMs = 65_000;

/** Checks that no engine works for a client that is gone, and that each answer comes from an engine. */
export function judgeSlots(
  executions: readonly Execution[],
  sent: readonly Sent[],
  disturbances: Disturbances,
  now: number,
): Violation[] {
  const byId = new Map(sent.map((one) => [one.plan.id, one]));
  const asked = new Set(executions.map(({ id }) => id));
  const unasked = sent.filter(({ plan, answer }) => answer.finished && plan.format !== 'tools' && !asked.has(plan.id));
  const busy = executions.flatMap(({ id, engine, startedAt, endedAt = now }) => {
    const one = byId.get(id);
    const gone = one?.endedAt;
    if (gone === undefined || endedAt <= gone + calmMs) return [];
    // The engine may have got the request late, because its sender was disturbed.
    const [from, to] = [Math.min(one?.sentAt ?? startedAt, startedAt), Math.max(gone + calmMs, startedAt)];
    const faults = disturbances.during(from, to).filter(({ fault: { name, index } }) => {
      if (name.startsWith('worker-')) return index === engine;
      return name.startsWith('ingress-') ? index === one?.plan.ingress : name.startsWith('nats-');
    });
    const boundOf = (name: string): number => (name === 'ingress-kill' ? killedMs : disturbedMs);
    if (faults.some(({ to, fault }) => endedAt <= to + boundOf(fault.name))) return [];
    const detail = `engine ${engine} until ${Math.round(endedAt - gone)} ms after its client was gone`;
    return [{ rule: 'busy slot', id, detail } satisfies Violation];
  });
  return [
    ...busy,
    ...unasked.map(({ plan }): Violation => ({ rule: 'not executed', id: plan.id, detail: 'but answered' })),
  ];
}
