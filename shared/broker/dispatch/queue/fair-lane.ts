import type { JobRequest } from '../job-request.ts';
import { DrainRate } from './drain-rate.ts';
import { WeightedOrder } from './weighted-order.ts';

/** Milliseconds for which a dispatcher's tickets in a lane suffice at the rate of claims, so that no worker waits for the next ticket. */
const bufferedWorkMs = 50;

/** Minimum tickets of a dispatcher in a lane, however slowly jobs are claimed. */
const minTickets = 2;

/** Seconds over which the rate of claims is averaged. */
const averagedSeconds = 5;

/** Milliseconds without a claim after which a lane gets more tickets if its pool has free slots. */
const stuckMs = 250;
/** Maximum tickets that a lane without claims gets at once. */
const maxStuckTickets = 4;

/** Milliseconds without a claim after which the jobs with tickets are offered, because workers may be unable to pull the tickets. */
const stalledMs = 1_000;

/** Maximum jobs that are checked for one claim to find a job that the worker may take. */
const maxCheckedJobs = 16;

interface QueuedJob {
  readonly request: { readonly sender: Readonly<JobRequest['sender']> };
}

/** The place of a job in a lane. */
export interface LanePlace<Job extends QueuedJob> {
  readonly job: Job;
  /** Whether the job is held back, without a ticket yet. */
  isHeld: boolean;
}

interface KeyPlaces<Job extends QueuedJob> {
  /** The places of the key's jobs without a ticket, oldest first. */
  held: Set<LanePlace<Job>>;
  /** The number of the key's jobs with a ticket. */
  published: number;
}

type OwnerPlaces<Job extends QueuedJob> = WeightedOrder<KeyPlaces<Job>>;

/**
 * The jobs of one dispatcher that wait in one lane. Owners share the lane by their weights, and so do the keys of each owner, however many
 * requests each has sent. Only a few jobs have a ticket; the others are held back. The broker delivers the tickets of a lane in the order
 * of their arrival, so if all jobs had tickets, everybody else would be behind the owner with the most jobs. A claim goes to the next job
 * in line, even if the job of the claim's ticket has ended. So the tickets of cancelled jobs are used up, and do not fill the queue.
 */
export class FairLane<Job extends QueuedJob> {
  readonly #publish: (job: Job) => void;
  readonly #onLeave: (job: Job) => void;
  /** The owners that have had no claim yet, with their keys. The owner that is next in line comes first. */
  readonly #newcomers = new WeightedOrder<OwnerPlaces<Job>>();
  /** The owners that have had a claim, with their keys. The owner that is next in line comes first. */
  readonly #regulars = new WeightedOrder<OwnerPlaces<Job>>();
  /**
   * Whether the last claim went to a newcomer. The next claim then goes to a regular owner, so that no owner gains by leaving and coming
   * back.
   */
  #wasLastNewcomer = false;
  /** The number of jobs with a ticket. */
  #published = 0;
  /** The number of jobs without a ticket. */
  #held = 0;
  /** The number of tickets in the lane that belong to jobs that have left the lane, as far as this dispatcher has noticed. */
  #spareTickets = 0;
  readonly #drainRate = new DrainRate();
  /** The number of recent claims at the time `#lastClaimAt`. Older claims count less. */
  #claims = 0;
  #lastClaimAt = performance.now();
  #waitingSince = this.#lastClaimAt;
  /** When a job was last claimed, or `maintain` last published tickets. */
  #progressAt = performance.now();

  /**
   * @param publish publishes the ticket of a job that was held back
   * @param onLeave called with each job that leaves the lane
   */
  constructor(publish: (job: Job) => void, onLeave: (job: Job) => void) {
    this.#publish = publish;
    this.#onLeave = onLeave;
  }

  /** Computes the lane's recent claims per second. */
  computeRatePerSecond(now: number): number {
    return (this.#claims * Math.exp((this.#lastClaimAt - now) / 1000 / averagedSeconds)) / averagedSeconds;
  }

  /**
   * Estimates the milliseconds until the last job of this job's key is claimed. If the key has no job in the lane, estimates the wait of a
   * new job. Assumes that other owners and keys get claims by their weights in the meantime, as far as they have jobs.
   */
  estimateWaitMs({ request }: Job, now: number): number {
    const { owner, key, ownerWeight = 1, keyWeight = 1 } = request.sender;
    const weights = this.#newcomers.totalWeight + this.#regulars.totalWeight;
    const keys = this.#newcomers.get(owner) ?? this.#regulars.get(owner);
    const places = keys?.get(key);
    const ownJobs = places ? places.held.size + places.published : 1;
    const expectedClaims = ownJobs * ((keys?.totalWeight ?? keyWeight) / keyWeight) * (weights / ownerWeight);
    const jobsAhead = Math.min(this.#held + this.#published, Math.ceil(expectedClaims));
    return this.#drainRate.estimateWaitMs(jobsAhead, now);
  }

  /**
   * Adds a job. If its place is not held, the caller must publish the job's ticket.
   * @param isUrgent whether the job gets a ticket at once, however many tickets there are
   */
  add(job: Job, isUrgent: boolean): LanePlace<Job> {
    if (this.#held + this.#published === 0) {
      this.#waitingSince = performance.now();
      this.#drainRate.restart(this.#waitingSince);
    }
    const isHeld = !isUrgent && (this.#held > 0 || !this.#hasRoom());
    const place = { job, isHeld };
    const places = this.#getOrCreatePlaces(job);
    if (isHeld) {
      places.held.add(place);
      this.#held += 1;
    } else {
      places.published += 1;
      this.#published += 1;
    }
    return place;
  }

  /**
   * Removes a job that was claimed or has ended, and publishes tickets of other jobs.
   * @param leavesTicket whether a ticket of the job stays in the lane
   */
  remove(place: LanePlace<Job>, leavesTicket: boolean): void {
    const { owner, key } = place.job.request.sender;
    const owners = this.#newcomers.get(owner) ? this.#newcomers : this.#regulars;
    const keys = owners.get(owner);
    const places = keys?.get(key);
    if (!keys || !places) return;
    if (place.isHeld) {
      places.held.delete(place);
      this.#held -= 1;
    } else {
      places.published -= 1;
      this.#published -= 1;
      if (leavesTicket) this.#spareTickets += 1;
    }
    if (places.held.size === 0 && places.published === 0) keys.delete(key);
    if (keys.size === 0) owners.delete(owner);
    this.#onLeave(place.job);
    this.#publishDueTickets(places);
  }

  /**
   * Chooses the job that a claim gets, while the job of the claim's ticket still waits. Counts the claim for the owner and key of the
   * chosen job.
   * @param claimed the job of the claim's ticket
   * @param mayTake returns whether the worker may get a job
   */
  chooseJobForTicket(claimed: Job, mayTake: (job: Job) => boolean): Job {
    const chosen = this.#findJobInTurn(claimed, mayTake) ?? claimed;
    this.#countClaim(chosen);
    return chosen;
  }

  /**
   * Chooses the job that a claim gets, after the job of the claim's ticket has ended or left the lane. The ticket is used up.
   * @param mayTake returns whether the worker may get a job
   * @returns undefined if there is no job without a ticket that the worker may get
   */
  chooseJobForSpareTicket(mayTake: (job: Job) => boolean): Job | undefined {
    this.#spareTickets = Math.max(0, this.#spareTickets - 1);
    const chosen = this.#findJobInTurn(undefined, mayTake);
    if (chosen) this.#countClaim(chosen);
    else this.#publishDueTickets();
    return chosen;
  }

  /** Resets the count of tickets that belong to jobs that have left the lane, because the broker may have lost these tickets. */
  clearSpareTickets(): void {
    this.#spareTickets = 0;
    this.#publishDueTickets();
  }

  /** Whether no job of the lane was claimed for a second, while jobs waited. */
  hasStalled(now: number): boolean {
    return now - Math.max(this.#lastClaimAt, this.#waitingSince) >= stalledMs;
  }

  /**
   * Publishes more tickets if no job was claimed for a while, because workers may have received tickets of the lane and then been lost.
   * @param freeSlots returns the number of free slots of the lane's pool
   */
  maintain(now: number, freeSlots: () => number): void {
    if (this.#held === 0 || now - this.#progressAt < stuckMs) return;
    this.#progressAt = now;
    const freeSlotCount = freeSlots();
    if (freeSlotCount <= 0) return;
    this.#spareTickets = 0;
    const dueTickets = Math.min(this.#held, maxStuckTickets, Math.max(1, freeSlotCount - this.#published));
    for (let count = 0; count < dueTickets; count += 1) this.#publishNextTicket();
  }

  #countClaim({ request }: Job): void {
    const now = performance.now();
    this.#claims = this.computeRatePerSecond(now) * averagedSeconds + 1;
    this.#lastClaimAt = now;
    this.#drainRate.countClaim(now);
    this.#progressAt = now;
    const { owner, key, ownerWeight = 1 } = request.sender;
    const newcomer = this.#newcomers.get(owner);
    this.#wasLastNewcomer = newcomer !== undefined;
    if (newcomer) {
      this.#newcomers.delete(owner);
      this.#regulars.add(owner, newcomer, ownerWeight);
    } else this.#regulars.countClaim(owner);
    this.#regulars.get(owner)?.countClaim(key);
  }

  /** Returns the first job in line without a ticket that the worker may get, or the claimed job if its key comes before that job. */
  #findJobInTurn(claimed: Job | undefined, mayTake: (job: Job) => boolean): Job | undefined {
    if (this.#held === 0) return undefined;
    const sender = claimed?.request.sender;
    let checkedJobs = 0;
    for (const [ofOwner, keys] of this.#iterateInTurn()) {
      for (const [ofKey, { held }] of keys) {
        if (ofOwner === sender?.owner && ofKey === sender.key) return claimed;
        const [first] = held;
        if (first && mayTake(first.job)) return first.job;
        checkedJobs += 1;
        if (checkedJobs >= maxCheckedJobs) return undefined;
      }
    }
    return undefined;
  }

  /** Whether the lane has fewer tickets than it should. */
  #hasRoom(): boolean {
    const rate = this.computeRatePerSecond(performance.now());
    return this.#published + this.#spareTickets < Math.max(minTickets, Math.ceil((rate * bufferedWorkMs) / 1000));
  }

  /**
   * Publishes tickets until the lane has enough.
   * @param places the places of the key whose ticket was used up. That key gets the next ticket first. This is no advantage, because a
   * claim goes to the next job in line, whichever job the ticket has
   */
  #publishDueTickets(places?: KeyPlaces<Job>): void {
    while (this.#held > 0 && this.#hasRoom()) if (!places || !this.#publishTicketOf(places)) this.#publishNextTicket();
  }

  /** Publishes a ticket for the next job in line without a ticket. */
  #publishNextTicket(): void {
    for (const [, keys] of this.#iterateInTurn()) {
      for (const [, places] of keys) if (this.#publishTicketOf(places)) return;
    }
  }

  /**
   * Publishes a ticket for the key's job that has waited longest without a ticket.
   * @returns false if the key has no job without a ticket
   */
  #publishTicketOf(places: KeyPlaces<Job>): boolean {
    const [place] = places.held;
    if (!place) return false;
    places.held.delete(place);
    places.published += 1;
    place.isHeld = false;
    this.#held -= 1;
    this.#published += 1;
    this.#publish(place.job);
    return true;
  }

  #getOrCreatePlaces({ request }: Job): KeyPlaces<Job> {
    const { owner, key, ownerWeight = 1, keyWeight = 1 } = request.sender;
    const knownKeys = this.#newcomers.get(owner) ?? this.#regulars.get(owner);
    const keys = knownKeys ?? new WeightedOrder<KeyPlaces<Job>>();
    if (!knownKeys) this.#newcomers.add(owner, keys, ownerWeight);
    for (const owners of [this.#newcomers, this.#regulars]) owners.setWeight(owner, ownerWeight);
    const knownPlaces = keys.get(key);
    if (knownPlaces) {
      keys.setWeight(key, keyWeight);
      return knownPlaces;
    }
    const places = { held: new Set<LanePlace<Job>>(), published: 0 };
    keys.add(key, places, keyWeight);
    return places;
  }

  /** Iterates over the owners with their keys, next in line first. */
  *#iterateInTurn(): Generator<[string, OwnerPlaces<Job>]> {
    yield* this.#wasLastNewcomer ? this.#regulars : this.#newcomers;
    yield* this.#wasLastNewcomer ? this.#newcomers : this.#regulars;
  }
}
