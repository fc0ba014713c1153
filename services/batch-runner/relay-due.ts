import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/core/log.ts';

/** Messages that are taken at once. */
const atOnce = 64;

/** Milliseconds between two looks at what is due. */
const lookEveryMs = 1_000;

/** A message that can be sent now, and the attempts that it has had. */
interface Due {
  id: string;
  attempts: number;
}

export interface RelayParts {
  /** What is sent, for the log: `webhooks`. */
  what: string;
  /** Takes messages that are due: nobody else gets them for a while. */
  takeDue: (atOnce: number) => Promise<Due[]>;
  /** Puts a message into the queue of those who send them. One that it loses is due again after some minutes. */
  enqueue: (due: Due) => Promise<void>;
  log: Pick<Logger, 'warn'>;
}

/**
 * Puts messages into a queue when they are due. Any number of processes may do so: each message is taken by one of them.
 * @returns resolves when the signal has aborted and nothing more is put into the queue
 */
export async function relayDue({ what, takeDue, enqueue, log }: RelayParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let mayBeMore = false;
    try {
      const taken = await takeDue(atOnce);
      await Promise.all(taken.map(enqueue));
      mayBeMore = taken.length === atOnce;
    } catch (error) {
      log.warn({ err: error }, `${what} that are due cannot be queued`);
    }
    if (!mayBeMore) await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
}
