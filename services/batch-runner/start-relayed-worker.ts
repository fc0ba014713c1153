import type { BackgroundAccess } from '#shared/background/background-access.ts';
import type { BackgroundQueue } from '#shared/background/background-job.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker, type QueueWorker } from '#shared/background/background-worker.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Releases } from '#shared/core/release.ts';
import { relayDue, type DueMessage } from './relay-due.ts';

/** When the runner ends, running tries get this many milliseconds to finish. Unfinished messages are returned to the queue. */
const finishMs = 5_000;

export interface RelayedWorkerParts {
  access: BackgroundAccess;
  jobs: Pick<BackgroundJobs, 'add'>;
  log: Logger;
  releases: Releases;
}

export interface RelayedWorkerOptions {
  queue: BackgroundQueue;
  /** Name of the messages in the log, such as `webhooks`. */
  messageKind: string;
  /** Reserves due messages for this process. No other process gets them for a while. */
  takeDue: (atOnce: number) => Promise<DueMessage[]>;
  /** Tries to send one message. */
  deliver: (due: DueMessage, signal: AbortSignal) => Promise<void>;
  /** Largest number of messages that one runner tries to send at a time. */
  concurrency: number;
}

/**
 * Starts to queue messages when they are due, and to send queued messages, together with all other runners.
 * @returns the worker of the queue, which the caller closes together with the workers of other queues
 */
export function startRelayedWorker(
  { access, jobs, log, releases }: RelayedWorkerParts,
  { queue, messageKind, takeDue, deliver, concurrency }: RelayedWorkerOptions,
): QueueWorker {
  const [stopRelay, stopDeliveries] = [new AbortController(), new AbortController()];
  const enqueue = (due: DueMessage): Promise<void> => jobs.add({ queue, id: `${due.id}-${due.attempts}`, data: due });
  const relaying = relayDue({ messageKind, takeDue, enqueue, log }, stopRelay.signal);
  releases.add(messageKind, async () => {
    stopRelay.abort();
    await relaying;
    setTimeout(() => stopDeliveries.abort(), finishMs).unref();
  });
  return new BackgroundWorker<DueMessage>({
    access,
    queue,
    concurrency,
    handle: (due) => deliver(due, stopDeliveries.signal),
  });
}
