import type { Webhook } from './webhooks.ts';

/*
 * The contract between the console's pages and its API: background work, for administrators. The rules of `account.ts` apply.
 */

/** `GET /background`: the queues, and the jobs that have failed and are tried again, 100 of each queue at most. */
export interface Background {
  queues: BackgroundQueueFacts[];
  failing: FailingJobFacts[];
}

export interface BackgroundQueueFacts {
  name: string;
  waiting: number;
  active: number;
  /** Jobs that begin later: those that have failed, and those that wait for something. */
  delayed: number;
}

/** `POST /background/repeat` `{ queue, id }` has a job tried now, and answers `{ repeated }`: false where it does not wait any more. */
export interface FailingJobFacts {
  queue: string;
  /** As `batch_0123-7`: what it is for. */
  id: string;
  /** Attempts that failed. */
  failures: number;
  lastAt?: number;
  /** Why the last one failed. */
  reason: string;
}

/** `GET /background/webhooks`: the webhooks to which events are on their way, or were given up. */
export interface WebhookBacklog {
  webhook: Webhook;
  pending: number;
  /** Deliveries that were given up. `POST /webhooks/<id>/repeat` sends them again. */
  dead: number;
}
