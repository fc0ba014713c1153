import type { Job } from '../job.ts';

/** What of a job is counted. */
type Sent = { readonly request: Pick<Job['request'], 'sender'> };

/**
 * Counts the jobs that wait in the lanes of a tier. A key may add one to those that it has as long as it takes no more places than
 * it leaves free, so that a key that fills the queue leaves room for the others.
 */
export class WaitingJobs {
  #all = 0;
  /** Of each key that has any. */
  readonly #ofKeys = new Map<string, number>();

  /** Whether there is no place for one more job of a key, of so many in all. */
  areFull({ request }: Sent, max: number): boolean {
    return (this.#ofKeys.get(request.sender.key) ?? 0) >= max - this.#all;
  }

  /** A job has come, or waits no more. */
  count({ request }: Sent, change: 1 | -1): void {
    const { key } = request.sender;
    this.#all += change;
    const ofKey = (this.#ofKeys.get(key) ?? 0) + change;
    if (ofKey > 0) this.#ofKeys.set(key, ofKey);
    else this.#ofKeys.delete(key);
  }
}
