import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { RunLaterError } from '#shared/background/background-worker.ts';
import { createResponseJob } from '#shared/background/response-jobs.ts';
import type { Logger } from '#shared/core/log.ts';

/** Milliseconds after which a refused response asks again, in case the runner that would recall it ends. */
const waitMs = 10_000;

export interface OwnerPlacesOptions {
  /** Number of responses that this runner makes at the same time. */
  places: number;
  jobs: Pick<BackgroundJobs, 'tryNow'>;
  log: Pick<Logger, 'debug'>;
}

/**
 * The places of this runner for responses, shared among their owners: each may take half of what the others leave, so that another owner
 * always finds a place. A refused response is recalled as soon as one of its owner ends.
 */
export class OwnerPlaces {
  readonly #options: OwnerPlacesOptions;
  readonly #owners = new Map<string, { taken: number; refused: Set<string> }>();
  #taken = 0;

  constructor(options: OwnerPlacesOptions) {
    this.#options = options;
  }

  /**
   * Takes a place for a response of an owner.
   * @throws RunLaterError if the owner has its share
   */
  take(owner: string, id: string): void {
    const places = this.#owners.get(owner) ?? { taken: 0, refused: new Set() };
    const ofOthers = this.#taken - places.taken;
    if (places.taken > 0 && places.taken >= (this.#options.places - ofOthers) / 2) {
      places.refused.add(id);
      throw new RunLaterError(waitMs);
    }
    places.refused.delete(id);
    places.taken += 1;
    this.#taken += 1;
    this.#owners.set(owner, places);
  }

  /** Frees a place, and recalls the response of the owner that was refused first. */
  release(owner: string): void {
    const places = this.#owners.get(owner);
    if (!places) throw new Error(`${owner} has no place`);
    places.taken -= 1;
    this.#taken -= 1;
    if (places.taken === 0) this.#owners.delete(owner);
    const [next] = places.refused;
    if (next === undefined) return;
    places.refused.delete(next);
    this.#options.jobs.tryNow(createResponseJob(next, 1)).catch((error: unknown) => {
      this.#options.log.debug({ err: error, response: next }, 'a response could not be recalled before its time');
    });
  }
}
