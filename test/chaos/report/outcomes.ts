import { faultNames, type FaultName } from '../faults/fault-kinds.ts';
import type { Struck } from '../faults/inject.ts';
import type { Execution } from '../faults/engine-front.ts';
import type { Sent } from '../load/send-request.ts';

/** How the requests ended that ran while one kind of fault struck. */
export interface Outcomes {
  faults: number;
  done: number;
  /** Of those done: ones that more than one engine was asked for. */
  moved: number;
  /** An error event in the middle. */
  ended: number;
  /** An error instead of an answer. */
  refused: number;
  /** A connection that broke or was never made. */
  broken: number;
  /** The client left. */
  left: number;
  /**
   * Of streams that were done, and had no text when the fault struck: milliseconds from then, or from when the engine would have had
   * text, to the first text.
   */
  waits: number[];
}

/** A fault's consequences may show this much later, in milliseconds. */
const laterMs = 500;

/** Counts the outcomes of requests by the faults that they met. One that met several counts for each. */
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
      if (one.sentAt > to + laterMs || (one.endedAt ?? Number.POSITIVE_INFINITY) < from) continue;
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

/** The outcomes of several runs together. */
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

/** How a request ended for its client. */
export function outcomeOf({ left, answer }: Sent): 'done' | 'ended' | 'refused' | 'broken' | 'left' {
  if (left) return 'left';
  if (answer.broken !== undefined || answer.status === undefined) return 'broken';
  if (answer.status !== 200) return 'refused';
  return answer.finished && answer.error === undefined ? 'done' : 'ended';
}

/**
 * Milliseconds from each fault of one kind to the first text of every stream that the worker it struck had without text, less the
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
    const held = executions.filter(
      ({ engine, startedAt, endedAt }) =>
        engine === fault.index && startedAt < from && (endedAt === undefined || endedAt > from),
    );
    return held.flatMap(({ id }) => {
      const one = byId.get(id);
      const text = one?.plan.stream ? one.firstTextAt : undefined;
      return one && text !== undefined && text > from ? [Math.max(0, text - one.plan.delayMs - from)] : [];
    });
  });
}

/** The failures of a run, each with how often it came: status and code, or how the connection broke. */
export function countFailures(sent: readonly Sent[]): [string, number][] {
  const failures = sent.flatMap((one) => {
    const { status, error, broken } = one.answer;
    const outcome = outcomeOf(one);
    if (outcome === 'done' || outcome === 'left') return [];
    return [outcome === 'broken' ? (broken ?? 'no answer') : `${status} ${error ?? 'without an error'}`];
  });
  return Array.from(
    Map.groupBy(failures, (failure) => failure),
    ([failure, list]): [string, number] => [failure, list.length],
  ).toSorted(([, one], [, other]) => other - one);
}
