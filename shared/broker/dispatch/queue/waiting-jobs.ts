import type { Job } from '../job.ts';

type CountedJob = { readonly request: Pick<Job['request'], 'sender'> };

/**
 * Counts the jobs that wait in the lanes of a tier. A key may add a job while it takes fewer places than are free, so that a key that
 * fills the queue leaves room for the others.
 */
export class WaitingJobs {
  #all = 0;
  /** The number of waiting jobs by key, without keys that have none. */
  readonly #ofKeys = new Map<string, number>();

  /**
   * Whether a key has no room for one more job.
   * @param max the places of the whole tier
   */
  areFull({ request }: CountedJob, max: number): boolean {
    return (this.#ofKeys.get(request.sender.key) ?? 0) >= max - this.#all;
  }

  /** Counts a job that has come (1) or does not wait any more (-1). */
  count({ request }: CountedJob, change: 1 | -1): void {
    const { key } = request.sender;
    this.#all += change;
    const ofKey = (this.#ofKeys.get(key) ?? 0) + change;
    if (ofKey > 0) this.#ofKeys.set(key, ofKey);
    else this.#ofKeys.delete(key);
  }
}
