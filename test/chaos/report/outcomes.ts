import { faultNames, type FaultName } from '../faults/fault-kinds.ts';
import type { Struck } from '../faults/inject.ts';
import type { Execution } from '../faults/engine-front.ts';
import type { Sent } from '../load/send-request.ts';

/** Outcomes of the requests that ran while one kind of fault struck. */
export interface Outcomes {
  faults: number;
  done: number;
  /** Done requests for which more than one engine was asked. */
  moved: number;
  /** Ended by an error event in the middle. */
  ended: number;
  /** Got an error instead of an answer. */
  refused: number;
  /** The connection broke or was never made. */
  broken: number;
  left: number;
  /**
   * For done streams that had no text when the fault struck: milliseconds to the first text, from the fault or from when the engine would
   * have had text.
   */
  waits: number[];
}

/** Milliseconds after a fault in which its consequences may show. */
const laterMs = 500;

/** Counts the outcomes of requests by the faults that they met. A request that met several counts for each. */
export function countOutcomes(
  struck: readonly Struck[],
  sent: readonly Sent[],
  executions: readonly Execution[],
): Map<FaultName, Outcomes> {
  const asked = Map.groupBy(executions, ({ id }) => id);
  const found = new Map<FaultName, Outcomes>(faultNames.map((name) => [name, noOutcomes()]));
  for (const { fault, from, to } of struck) {
    const outcomes = found.get(fault.name);
    if (!outcomes) continue;
    outcomes.faults += 1;
    for (const one of sent) {
      if (one.sentAt > to + laterMs || (one.endedAt ?? Infinity) < from) continue;
      const outcome = outcomeOf(one);
      outcomes[outcome] += 1;
      if (outcome !== 'done') continue;
      if ((asked.get(one.plan.id)?.length ?? 0) > 1) outcomes.moved += 1;
      const { plan, sentAt, firstTextAt: textAt } = one;
      if (plan.stream && textAt !== undefined && textAt > from) {
        outcomes.waits.push(Math.max(0, textAt - Math.max(from, sentAt + plan.delayMs)));
      }
    }
  }
  return found;
}

function noOutcomes(): Outcomes {
  return { faults: 0, done: 0, moved: 0, ended: 0, refused: 0, broken: 0, left: 0, waits: [] };
}

export function addOutcomes(runs: readonly Map<FaultName, Outcomes>[]): Map<FaultName, Outcomes> {
  const sum = new Map(faultNames.map((name) => [name, noOutcomes()]));
  for (const [name, one] of runs.flatMap((run) => [...run])) {
    const all = sum.get(name) ?? noOutcomes();
    for (const count of counts) all[count] += one[count];
    all.waits.push(...one.waits);
  }
  return sum;
}

const counts = ['faults', 'done', 'moved', 'ended', 'refused', 'broken', 'left'] as const;

export function outcomeOf({ left, answer }: Sent): 'done' | 'ended' | 'refused' | 'broken' | 'left' {
  if (left) return 'left';
  if (answer.broken !== undefined || answer.status === undefined) return 'broken';
  if (answer.status !== 200) return 'refused';
  return answer.finished && answer.error === undefined ? 'done' : 'ended';
}

/**
 * Returns the milliseconds from each fault of one kind to the first text of every stream that the struck worker had without text, minus the
 * engine's own delay.
 */
export function recoveries(
  struck: readonly Struck[],
  sent: readonly Sent[],
  executions: readonly Execution[],
  name: FaultName,
): number[] {
  const byId = new Map(sent.map((one) => [one.plan.id, one]));
  return struck.flatMap(({ fault, from }) => {
    if (fault.name !== name) return [];
    const held = executions.filter(({ engine, startedAt, endedAt = Infinity }) => {
      return engine === fault.index && startedAt < from && endedAt > from;
    });
    return held.flatMap(({ id }) => {
      const one = byId.get(id);
      const text = one?.plan.stream ? one.firstTextAt : undefined;
      return one && text !== undefined && text > from ? [Math.max(0, text - one.plan.delayMs - from)] : [];
    });
  });
}

/** Counts the failures of a run by status and code, or by how the connection broke. */
export function countFailures(sent: readonly Sent[]): [string, number][] {
  const failures = sent.flatMap((one) => {
    const { status, error, broken } = one.answer;
    const outcome = outcomeOf(one);
    if (outcome === 'done' || outcome === 'left') return [];
    return [outcome === 'broken' ? (broken ?? 'no answer') : `${status} ${error ?? 'without an error'}`];
  });
  const groups = [...Map.groupBy(failures, (failure) => failure)];
  return groups.map(([failure, list]): [string, number] => [failure, list.length]).toSorted(([, a], [, b]) => b - a);
}
