import type { Sent } from '../load/send-request.ts';
import type { Violation } from './violation.ts';

/** Judges that no request kills more workers than this. */
export function judgePoison(sent: readonly Sent[], deaths: readonly { id: string }[], most: number): Violation[] {
  return sent.flatMap(({ plan: { id, poison } }): Violation[] => {
    const killed = deaths.filter((death) => death.id === id).length;
    return poison && killed > most ? [{ rule: 'poison', id, detail: `killed ${killed} workers` }] : [];
  });
}
