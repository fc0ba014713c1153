import type { Msg } from '@nats-io/transport-node';
import type { Broker } from '../../connection/connect-broker.ts';
import { decodeTicket } from '../../contract/ticket.ts';
import type { LivePool } from '../workers/live-pool.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';

/** Maximum remembered jobs, so that each is reported once. */
const maxSeen = 10_000;

/** Milliseconds after which a job that still waits is reported again. */
const againMs = 1_000;

export interface LiveTicketsOptions {
  broker: Pick<Broker, 'subjects' | 'subscribe' | 'publish'>;
  workers: Pick<LiveWorkers, 'pools'>;
  /**
   * Called with the pool in which a job of a live request found no free slot.
   * @returns false if this process cannot free a slot; the pool is then passed on to other processes
   */
  onWaiting: (pool: LivePool) => boolean;
}

/**
 * Reports jobs of live requests that wait for a slot, from the tickets that dispatchers publish for them. Of several subscribed
 * processes, one gets each ticket; if it cannot free a slot, it passes the ticket's pool on to all of them.
 */
export class LiveTicketWatcher {
  readonly #options: LiveTicketsOptions;
  readonly #seen = new Map<string, number>();
  readonly #stop: () => void;

  constructor(options: LiveTicketsOptions) {
    this.#options = options;
    const { broker } = options;
    const { subjects } = broker;
    const ofTickets = subjects.liveJobs.map((subject) =>
      broker.subscribe(subject, (message) => this.#onTicket(message), 'live-tickets'),
    );
    const passed = broker.subscribe(subjects.allSlotsWanted, (message) => this.#onPassed(message));
    this.#stop = () => {
      for (const subscription of [...ofTickets, passed]) subscription.unsubscribe();
    };
  }

  close(): void {
    this.#stop();
  }

  #onTicket({ subject, data }: Msg): void {
    const [tier = '', name = ''] = subject.split('.').slice(-3);
    const job = decodeTicket(data)?.job;
    const now = performance.now();
    if (job === undefined || now - (this.#seen.get(job) ?? -Infinity) < againMs) return;
    if (!this.#report(tier, name)) {
      const { broker } = this.#options;
      broker.publish(broker.subjects.slotsWanted(tier, name), '');
      return;
    }
    this.#seen.delete(job);
    this.#seen.set(job, now);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > maxSeen && oldest !== undefined) this.#seen.delete(oldest);
  }

  #onPassed({ subject }: Msg): void {
    const [tier = '', name = ''] = subject.split('.').slice(-2);
    this.#report(tier, name);
  }

  #report(tier: string, name: string): boolean {
    let isDone = true;
    for (const pool of this.#options.workers.pools())
      if (pool.tier === tier && pool.pool === name) isDone = this.#options.onWaiting(pool) && isDone;
    return isDone;
  }
}
