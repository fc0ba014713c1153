import { LRUCache } from 'lru-cache';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { RunLaterError } from '#shared/background/background-worker.ts';
import { createResponseJob } from '#shared/background/response-jobs.ts';
import type { Logger } from '#shared/core/log.ts';

/** Milliseconds after which a refused response asks again, in case the runner that would recall it ends. */
const waitMs = 10_000;

/** Maximum refused responses of an owner that are kept to be recalled. Further ones ask again by themselves. */
const maxRefused = 100;

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
  readonly #takenByOwner = new Map<string, number>();
  /** The refused responses of each owner, the earliest first. After `ttl` without a refusal, each has asked again, here or elsewhere. */
  readonly #refusedByOwner: LRUCache<string, Set<string>>;
  #taken = 0;

  constructor(options: OwnerPlacesOptions) {
    this.#options = options;
    this.#refusedByOwner = new LRUCache({ max: options.places, ttl: 2 * waitMs });
  }

  /**
   * Takes a place for a response of an owner.
   * @throws RunLaterError if the owner has its share
   */
  take(owner: string, id: string): void {
    const taken = this.#takenByOwner.get(owner) ?? 0;
    const refused = this.#refusedByOwner.get(owner) ?? new Set();
    const ofOthers = this.#taken - taken;
    if (taken > 0 && taken >= (this.#options.places - ofOthers) / 2) {
      if (refused.size < maxRefused) refused.add(id);
      this.#refusedByOwner.set(owner, refused);
      throw new RunLaterError(waitMs);
    }
    refused.delete(id);
    this.#takenByOwner.set(owner, taken + 1);
    this.#taken += 1;
  }

  /** Frees a place, and recalls the response of the owner that was refused first and still waits. */
  release(owner: string): void {
    const taken = this.#takenByOwner.get(owner);
    if (taken === undefined) throw new Error(`${owner} has no place`);
    if (taken === 1) this.#takenByOwner.delete(owner);
    else this.#takenByOwner.set(owner, taken - 1);
    this.#taken -= 1;
    this.#recallNext(owner).catch((error: unknown) => {
      this.#options.log.debug({ err: error }, 'a response could not be recalled before its time');
    });
  }

  async #recallNext(owner: string): Promise<void> {
    const refused = this.#refusedByOwner.get(owner);
    for (const id of refused ?? []) {
      refused?.delete(id);
      if (await this.#options.jobs.tryNow(createResponseJob(id, 1))) return;
    }
  }
}
