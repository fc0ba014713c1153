import { setTimeout as sleep } from 'node:timers/promises';
import type { DueMessage, DueMessages } from '#shared/accounts/webhooks/due-messages.ts';
import type { BackgroundQueue } from '#shared/background/background-job.ts';
import { BackgroundWorker } from '#shared/background/background-worker.ts';
import type { Logger } from '#shared/core/log.ts';
import type { RunnerContext } from './context.ts';
import type { DeliverDue } from './deliver-due.ts';

/** When the runner ends, running tries get this many milliseconds to finish. Unfinished messages are returned to the queue. */
const finishMs = 5_000;

/** Largest number of due messages per call of `takeDue`. */
const atOnce = 64;

/** Milliseconds between two checks for due messages. */
const checkIntervalMs = 1_000;

/** What work needs that sends queued messages. */
export type RelayContext = Pick<RunnerContext, 'access' | 'jobs' | 'queues' | 'metricsRegistry' | 'log' | 'releases'>;

export interface RelayedWorkerOptions {
  queue: BackgroundQueue;
  /** Name of the messages in the log, such as `webhooks`. */
  messageKind: string;
  messages: Pick<DueMessages<unknown>, 'takeDue'>;
  deliver: DeliverDue;
  /** Largest number of messages that one runner tries to send at a time. */
  concurrency: number;
}

/** Starts to queue messages when they are due, and to send queued messages, together with all other runners. */
export function startRelayedWorker(
  { access, jobs, queues, log, releases }: RelayContext,
  { queue, messageKind, messages, deliver, concurrency }: RelayedWorkerOptions,
): void {
  const [stopRelay, stopDeliveries] = [new AbortController(), new AbortController()];
  const enqueue = (due: DueMessage): Promise<void> => jobs.add({ queue, id: `${due.id}-${due.attempts}`, data: due });
  const relaying = relayDue({ messageKind, messages, enqueue, log }, stopRelay.signal);
  releases.add(messageKind, async () => {
    stopRelay.abort();
    await relaying;
    setTimeout(() => stopDeliveries.abort(), finishMs).unref();
  });
  const worker = new BackgroundWorker<DueMessage>({
    access,
    queue,
    concurrency,
    handle: (due) => deliver(due, stopDeliveries.signal),
  });
  queues.set(queue, worker);
}

interface RelayParts extends Omit<RelayedWorkerOptions, 'queue' | 'deliver' | 'concurrency'> {
  /** Adds a message to the queue of its senders. A message that the queue loses is due again after some minutes. */
  enqueue: (due: DueMessage) => Promise<void>;
  log: Pick<Logger, 'warn'>;
}

/**
 * Adds messages to a queue when they are due. Any number of processes may call this function at the same time, because each message goes to
 * only one process.
 * @returns a promise that resolves when the signal has aborted and the last message is queued
 */
export async function relayDue(
  { messageKind, messages, enqueue, log }: RelayParts,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let mayBeMore = false;
    try {
      const dueMessages = await messages.takeDue(atOnce);
      await Promise.all(dueMessages.map(enqueue));
      mayBeMore = dueMessages.length === atOnce;
    } catch (error) {
      log.warn({ err: error }, `${messageKind} that are due cannot be queued`);
    }
    if (!mayBeMore) await sleep(checkIntervalMs, undefined, { signal }).catch(() => undefined);
  }
}
