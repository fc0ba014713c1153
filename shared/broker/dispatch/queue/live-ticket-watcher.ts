import type { Msg } from '@nats-io/transport-node';
import type { Broker } from '../../connection/connect-broker.ts';
import { decodeTicket } from '../../contract/ticket.ts';
import type { LivePool } from '../workers/live-worker.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';

/** Maximum jobs with a recorded report. Without the record, a job would be reported once for each of its tickets. */
const maxRecordedJobs = 10_000;

/** Milliseconds after which a job that still waits is reported again. */
const repeatMs = 1_000;

/**
 * Reports the pools in which jobs of live requests wait for a slot. It reads the tickets that dispatchers publish for these jobs. Each
 * ticket goes to one of the processes that subscribe. If that process cannot free a slot, it passes the ticket's pool on to all of them.
 */
export class LiveTicketWatcher {
  readonly #broker: Pick<Broker, 'subjects' | 'subscribe' | 'publish'>;
  readonly #workers: Pick<LiveWorkers, 'pools'>;
  readonly #onWaiting: (pool: LivePool) => boolean;
  readonly #reportedAt = new Map<string, number>();
  readonly #stop: () => void;

  /**
   * @param onWaiting called with a pool in which a job of a live request waits for a slot. Returns false if this process cannot free a slot
   * there; the pool is then passed on to the other processes
   */
  constructor(
    broker: Pick<Broker, 'subjects' | 'subscribe' | 'publish'>,
    workers: Pick<LiveWorkers, 'pools'>,
    onWaiting: (pool: LivePool) => boolean,
  ) {
    this.#broker = broker;
    this.#workers = workers;
    this.#onWaiting = onWaiting;
    const { subjects } = broker;
    const ticketSubscriptions = subjects.liveJobs.map((subject) =>
      broker.subscribe(subject, (message) => this.#onTicket(message), 'live-tickets'),
    );
    const poolSubscription = broker.subscribe(subjects.allSlotsWanted, (message) => this.#onPassedPool(message));
    this.#stop = () => {
      for (const subscription of [...ticketSubscriptions, poolSubscription]) subscription.unsubscribe();
    };
  }

  close(): void {
    this.#stop();
  }

  #onTicket({ subject, data }: Msg): void {
    const [tier = '', name = ''] = subject.split('.').slice(-3);
    const job = decodeTicket(data)?.job;
    const now = performance.now();
    if (job === undefined || now - (this.#reportedAt.get(job) ?? -Infinity) < repeatMs) return;
    if (!this.#report(tier, name)) {
      this.#broker.publish(this.#broker.subjects.slotsWanted(tier, name), '');
      return;
    }
    this.#reportedAt.delete(job);
    this.#reportedAt.set(job, now);
    const [oldest] = this.#reportedAt.keys();
    if (this.#reportedAt.size > maxRecordedJobs && oldest !== undefined) this.#reportedAt.delete(oldest);
  }

  #onPassedPool({ subject }: Msg): void {
    const [tier = '', name = ''] = subject.split('.').slice(-2);
    this.#report(tier, name);
  }

  #report(tier: string, name: string): boolean {
    let isHandled = true;
    for (const pool of this.#workers.pools())
      if (pool.tier === tier && pool.pool === name) isHandled = this.#onWaiting(pool) && isHandled;
    return isHandled;
  }
}
