import type { JobRequest } from '../job-request.ts';
import { DrainRate } from './drain-rate.ts';
import { WeightedOrder } from './weighted-order.ts';

/** Milliseconds of work that the tickets of a dispatcher in a lane stand for, so that no worker waits for the next ticket. */
const bufferedWorkMs = 50;

/** Minimum tickets of a dispatcher in a lane, for a lane that drains slowly. */
const minTickets = 2;

const averagedSeconds = 5;

/** Milliseconds without a claim after which a lane gets more tickets if its pool has free slots. */
const stuckMs = 250;
/** Maximum tickets that such a lane gets at once. */
const maxStuckTickets = 4;

/** Milliseconds without a claim after which the jobs with tickets are offered, because workers may be unable to pull the tickets. */
const stalledMs = 1_000;

const maxLooks = 16;

interface QueuedJob {
  readonly request: { readonly sender: Readonly<JobRequest['sender']> };
}

export interface LanePlace<Job extends QueuedJob> {
  readonly job: Job;
  /** Whether the job has no ticket yet. */
  isHeld: boolean;
}

export interface FairLaneOptions<Job> {
  publish: (job: Job) => void;
  onLeave: (job: Job) => void;
}

interface KeyPlaces<Job extends QueuedJob> {
  held: Set<LanePlace<Job>>;
  published: number;
}

type OwnerPlaces<Job extends QueuedJob> = WeightedOrder<KeyPlaces<Job>>;

/**
 * The jobs of one dispatcher that wait in one lane. Owners share the lane by their weights, and so do the keys of each owner, regardless of
 * how many requests each has sent. Only a few jobs have a ticket. Lanes are first come, first served, so tickets for all jobs would put
 * everybody else behind the longest queue. A claim goes to the next job in line, even if the ticket's own job has ended. Such a ticket
 * stands for the next job, so that cancelled jobs do not fill the queue with tickets.
 */
export class FairLane<Job extends QueuedJob> {
  readonly #publish: FairLaneOptions<Job>['publish'];
  readonly #onLeave: FairLaneOptions<Job>['onLeave'];
  /** The keys of owners that have had no claim yet, by owner, next in line first. */
  readonly #newcomers = new WeightedOrder<OwnerPlaces<Job>>();
  /** The keys of owners that have had a claim, by owner, next in line first. */
  readonly #regulars = new WeightedOrder<OwnerPlaces<Job>>();
  /** Whether the last claim went to a newcomer. If so, the next one does not, so that an owner gains nothing by leaving and coming back. */
  #wasNewcomer = false;
  #published = 0;
  #held = 0;
  /** Tickets in the lane whose job does not wait here any more, as far as this dispatcher knows. */
  #spare = 0;
  readonly #drainRate = new DrainRate();
  #claims = 0;
  #claimedAt = performance.now();
  #waitingSince = this.#claimedAt;
  #progressAt = performance.now();

  constructor({ publish, onLeave }: FairLaneOptions<Job>) {
    this.#publish = publish;
    this.#onLeave = onLeave;
  }

  ratePerSecond(now: number): number {
    return (this.#claims * Math.exp((this.#claimedAt - now) / 1000 / averagedSeconds)) / averagedSeconds;
  }

  /**
   * Estimates the milliseconds until the last job of a key is claimed. If the key has none, the estimate is for a new job. For each job of
   * the key, other owners and keys get claims by their weights, if they have as many jobs.
   */
  expectedWaitMs({ request }: Job, now: number): number {
    const { owner, key, ownerWeight = 1, keyWeight = 1 } = request.sender;
    const weights = this.#newcomers.weights + this.#regulars.weights;
    const keys = this.#newcomers.get(owner) ?? this.#regulars.get(owner);
    const keyed = keys?.get(key);
    const own = keyed ? keyed.held.size + keyed.published : 1;
    const turns = own * ((keys?.weights ?? keyWeight) / keyWeight) * (weights / ownerWeight);
    const ahead = Math.min(this.#held + this.#published, Math.ceil(turns));
    return this.#drainRate.waitMs(ahead, now);
  }

  /**
   * Adds a job. If the result is not held, the caller publishes the job's ticket.
   * @param isUrgent whether the job gets a ticket in any case
   */
  add(job: Job, isUrgent: boolean): LanePlace<Job> {
    if (this.#held + this.#published === 0) {
      this.#waitingSince = performance.now();
      this.#drainRate.restart(this.#waitingSince);
    }
    const isHeld = !isUrgent && (this.#held > 0 || !this.#hasRoom());
    const place = { job, isHeld };
    const keyed = this.#placesOf(job);
    if (isHeld) {
      keyed.held.add(place);
      this.#held += 1;
    } else {
      keyed.published += 1;
      this.#published += 1;
    }
    return place;
  }

  /**
   * Removes a job that was claimed or has ended, and publishes the next tickets.
   * @param leavesTicket whether the job's ticket stays in the lane
   */
  remove(place: LanePlace<Job>, leavesTicket: boolean): void {
    const { owner, key } = place.job.request.sender;
    const owners = this.#newcomers.get(owner) ? this.#newcomers : this.#regulars;
    const keys = owners.get(owner);
    const keyed = keys?.get(key);
    if (!keys || !keyed) return;
    if (place.isHeld) {
      keyed.held.delete(place);
      this.#held -= 1;
    } else {
      keyed.published -= 1;
      this.#published -= 1;
      if (leavesTicket) this.#spare += 1;
    }
    if (keyed.held.size === 0 && keyed.published === 0) keys.delete(key);
    if (keys.size === 0) owners.delete(owner);
    this.#onLeave(place.job);
    this.#publishNext(keyed);
  }

  /**
   * Chooses the job for a claim while the claim's own job still waits. Counts the claim for the chosen job's owner and key.
   * @param mayTake whether the worker may have a job
   */
  turn(claimed: Job, mayTake: (job: Job) => boolean): Job {
    const taken = this.#jobInTurn(claimed, mayTake) ?? claimed;
    this.#count(taken);
    return taken;
  }

  /**
   * Chooses the job for a claim after the claim's own job has ended or left. The ticket is used up.
   * @returns undefined if the worker may take no job without a ticket
   */
  chooseJobForSpareTicket(mayTake: (job: Job) => boolean): Job | undefined {
    this.#spare = Math.max(0, this.#spare - 1);
    const taken = this.#jobInTurn(undefined, mayTake);
    if (taken) this.#count(taken);
    else this.#publishNext();
    return taken;
  }

  /** Stops counting tickets without a job, because the lane may have lost its tickets. */
  clearSpareTickets(): void {
    this.#spare = 0;
    this.#publishNext();
  }

  /** Whether jobs wait and none was claimed for a second. */
  standsStill(now: number): boolean {
    return now - Math.max(this.#claimedAt, this.#waitingSince) >= stalledMs;
  }

  /**
   * Publishes more tickets if none was claimed for a while, because workers that were lost may have taken the tickets in the lane.
   * @param freeSlots returns the free slots of the lane's pool
   */
  maintain(now: number, freeSlots: () => number): void {
    if (this.#held === 0 || now - this.#progressAt < stuckMs) return;
    this.#progressAt = now;
    const free = freeSlots();
    if (free <= 0) return;
    this.#spare = 0;
    const wanted = Math.min(this.#held, maxStuckTickets, Math.max(1, free - this.#published));
    for (let count = 0; count < wanted; count += 1) this.#publishOne();
  }

  #count({ request }: Job): void {
    const now = performance.now();
    this.#claims = this.ratePerSecond(now) * averagedSeconds + 1;
    this.#claimedAt = now;
    this.#drainRate.count(now);
    this.#progressAt = now;
    const { owner, key, ownerWeight = 1 } = request.sender;
    const newcomer = this.#newcomers.get(owner);
    this.#wasNewcomer = newcomer !== undefined;
    if (newcomer) {
      this.#newcomers.delete(owner);
      this.#regulars.add(owner, newcomer, ownerWeight);
    } else this.#regulars.count(owner);
    this.#regulars.get(owner)?.count(key);
  }

  /** Returns the first job without a ticket that the worker may take. Returns the claimed job if its key comes first. */
  #jobInTurn(claimed: Job | undefined, mayTake: (job: Job) => boolean): Job | undefined {
    if (this.#held === 0) return undefined;
    const sender = claimed?.request.sender;
    let looks = 0;
    for (const [ofOwner, keys] of this.#turns()) {
      for (const [ofKey, { held }] of keys) {
        if (ofOwner === sender?.owner && ofKey === sender.key) return claimed;
        const [first] = held;
        if (first && mayTake(first.job)) return first.job;
        looks += 1;
        if (looks >= maxLooks) return undefined;
      }
    }
    return undefined;
  }

  #hasRoom(): boolean {
    const rate = this.ratePerSecond(performance.now());
    return this.#published + this.#spare < Math.max(minTickets, Math.ceil((rate * bufferedWorkMs) / 1000));
  }

  /**
   * @param keyed the key whose ticket was used. It is served first, because a job without a ticket can get the claim of any key's ticket
   */
  #publishNext(keyed?: KeyPlaces<Job>): void {
    while (this.#held > 0 && this.#hasRoom()) if (!keyed || !this.#publishOf(keyed)) this.#publishOne();
  }

  #publishOne(): void {
    for (const [, keys] of this.#turns()) {
      for (const [, keyed] of keys) if (this.#publishOf(keyed)) return;
    }
  }

  /**
   * Publishes a ticket for the key's job that has waited longest without a ticket.
   * @returns false if there is none
   */
  #publishOf(keyed: KeyPlaces<Job>): boolean {
    const [place] = keyed.held;
    if (!place) return false;
    keyed.held.delete(place);
    keyed.published += 1;
    place.isHeld = false;
    this.#held -= 1;
    this.#published += 1;
    this.#publish(place.job);
    return true;
  }

  #placesOf({ request }: Job): KeyPlaces<Job> {
    const { owner, key, ownerWeight = 1, keyWeight = 1 } = request.sender;
    const known = this.#newcomers.get(owner) ?? this.#regulars.get(owner);
    const keys = known ?? new WeightedOrder<KeyPlaces<Job>>();
    if (!known) this.#newcomers.add(owner, keys, ownerWeight);
    for (const owners of [this.#newcomers, this.#regulars]) owners.reweigh(owner, ownerWeight);
    const keyed = keys.get(key);
    if (keyed) {
      keys.reweigh(key, keyWeight);
      return keyed;
    }
    const places = { held: new Set<LanePlace<Job>>(), published: 0 };
    keys.add(key, places, keyWeight);
    return places;
  }

  *#turns(): Generator<[string, OwnerPlaces<Job>]> {
    yield* this.#wasNewcomer ? this.#regulars : this.#newcomers;
    yield* this.#wasNewcomer ? this.#newcomers : this.#regulars;
  }
}
