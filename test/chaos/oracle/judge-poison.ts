import type { Sent } from '../load/send-request.ts';
import type { Violation } from './violation.ts';

/** The status of a request that is taken for one that kills workers, before any of its answer was sent. */
export const blamedStatus = 422;

/** Judges that no request kills more workers than this. */
export function judgePoison(sent: readonly Sent[], deaths: readonly { id: string }[], most: number): Violation[] {
  return sent.flatMap(({ plan: { id, poison } }): Violation[] => {
    const killed = deaths.filter((death) => death.id === id).length;
    return poison && killed > most ? [{ rule: 'poison', id, detail: `killed ${killed} workers` }] : [];
  });
}

/**
 * Judges that only a request is blamed while which two workers died, be it with a status or with an event of a stream.
 * @param deaths times at which workers died
 */
export function judgeBlame(sent: readonly Sent[], deaths: readonly number[]): Violation[] {
  return sent.flatMap(({ plan: { id, poison }, answer, sentAt, endedAt = 0 }): Violation[] => {
    if (poison || !answer.isBlamed) return [];
    const near = deaths.filter((at) => at >= sentAt && at <= endedAt);
    return near.length >= 2 ? [] : [{ rule: 'blamed', id, detail: `${answer.error} after ${near.length} deaths` }];
  });
}
