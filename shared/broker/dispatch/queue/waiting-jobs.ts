import type { Job } from '../job.ts';

/** The fields of a job that are needed to count it. */
type CountedJob = { readonly request: Pick<Job['request'], 'sender'> };

/**
 * Counts the jobs that wait in the lanes of a tier. A key may add a job while its waiting jobs are fewer than the free places, so that no
 * key can fill the queue alone. For example, with 100 places one key gets at most 50.
 */
export class WaitingJobs {
  #total = 0;
  /** The number of waiting jobs by key. Keys without waiting jobs are left out. */
  readonly #byKey = new Map<string, number>();

  /**
   * Whether the key of a job may not add one more job.
   * @param max the number of places of the whole tier
   */
  hasNoRoom({ request }: CountedJob, max: number): boolean {
    return (this.#byKey.get(request.sender.key) ?? 0) >= max - this.#total;
  }

  /** Counts a job that has begun to wait (1) or does not wait any more (-1). */
  count({ request }: CountedJob, change: 1 | -1): void {
    const { key } = request.sender;
    this.#total += change;
    const waitingOfKey = (this.#byKey.get(key) ?? 0) + change;
    if (waitingOfKey > 0) this.#byKey.set(key, waitingOfKey);
    else this.#byKey.delete(key);
  }
}
