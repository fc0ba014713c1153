import type { Sent } from '../load/send-request.ts';
import type { Disturbances } from './disturbances.ts';
import type { Violation } from './violation.ts';

/** The status of a request that is blamed for killing workers, before any of its answer was sent. */
export const blamedStatus = 422;

/** Checks that no request kills more workers than this. */
export function judgePoison(sent: readonly Sent[], deaths: readonly PoisonDeath[], most: number): Violation[] {
  return sent.flatMap(({ plan: { id, poison }, sentAt }): Violation[] => {
    const killed = deaths.filter((death) => death.id === id);
    if (!poison || killed.length <= most) return [];
    const when = killed.map(({ worker, at }) => `${worker} after ${Math.round(at - sentAt)} ms`);
    return [{ rule: 'poison', id, detail: `killed ${killed.length} workers: ${when.join(', ')}` }];
  });
}

/** A worker's death by a poisoned prompt. */
export interface PoisonDeath {
  id: string;
  worker: string;
  at: number;
}

/** Milliseconds of silence after which a worker counts as dead: no client can distinguish the two. */
const silentMs = 3_000;

/**
 * Checks that only a request is blamed during which two workers died or were silent, with a status or with an event of a stream.
 * @param deaths times at which workers died
 */
export function judgeBlame(sent: readonly Sent[], deaths: readonly number[], disturbances: Disturbances): Violation[] {
  return sent.flatMap(({ plan: { id, poison }, answer, sentAt, endedAt = 0 }): Violation[] => {
    if (poison || !answer.isBlamed) return [];
    const died = deaths.filter((at) => at >= sentAt && at <= endedAt).length;
    const silent = disturbances.during(sentAt, endedAt).filter(({ fault: { name }, from, to }) => {
      return (name === 'worker-stop' || name === 'worker-cut') && Math.min(to, endedAt) - from >= silentMs;
    }).length;
    if (died + silent >= 2) return [];
    return [{ rule: 'blamed', id, detail: `${answer.error} after ${died} deaths and ${silent} silences` }];
  });
}
