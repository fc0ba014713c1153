import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/core/log.ts';

/** Largest number of due messages per call of `takeDue`. */
const atOnce = 64;

/** Milliseconds between two checks for due messages. */
const checkIntervalMs = 1_000;

export interface DueMessage {
  id: string;
  attempts: number;
}

export interface RelayParts {
  /** Name of the messages in the log, such as `webhooks`. */
  messageKind: string;
  /** Reserves due messages for this process. No other process gets them for a while. */
  takeDue: (atOnce: number) => Promise<DueMessage[]>;
  /** Adds a message to the queue of its senders. A message that the queue loses is due again after some minutes. */
  enqueue: (due: DueMessage) => Promise<void>;
  log: Pick<Logger, 'warn'>;
}

/**
 * Adds messages to a queue when they are due. Any number of processes may call this function at the same time, because each message goes to
 * only one process.
 * @returns a promise that resolves when the signal has aborted and the last message is queued
 */
export async function relayDue({ messageKind, takeDue, enqueue, log }: RelayParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let mayBeMore = false;
    try {
      const dueMessages = await takeDue(atOnce);
      await Promise.all(dueMessages.map(enqueue));
      mayBeMore = dueMessages.length === atOnce;
    } catch (error) {
      log.warn({ err: error }, `${messageKind} that are due cannot be queued`);
    }
    if (!mayBeMore) await sleep(checkIntervalMs, undefined, { signal }).catch(() => undefined);
  }
}
