import type { JobRequest } from '../job-request.ts';
import { DrainRate } from './drain-rate.ts';
import { TurnOrder } from './turn-order.ts';

/** Milliseconds of work that tickets of an ingress stand for in a lane, so that no worker waits for the next one. */
const aheadMs = 50;

/** Tickets of an ingress in a lane while it drains slowly. */
const minTickets = 2;

/** Seconds over which the rate of claims is averaged. */
const averagedSeconds = 5;

/** Milliseconds after which a lane that stands still although its pool has free slots gets more tickets, and how many at most. */
const stuckMs = 250;
const maxStuckTickets = 4;

/** Milliseconds without a claim after which the jobs with tickets are offered: no worker may be able to pull them. */
const stillMs = 1_000;

/** Keys with turns that are looked at for one claim, at most. */
const maxLooks = 16;

/** What of a job matters to its turn. */
interface Sent {
  readonly request: { readonly sender: Readonly<JobRequest['sender']> };
}

/** A job's place in one lane. */
export interface LanePlace<Job extends Sent> {
  readonly job: Job;
  /** Whether it has no ticket yet. */
  isHeld: boolean;
}

export interface FairLaneOptions<Job> {
  /** Called for a job that is to get a ticket now. */
  publish: (job: Job) => void;
  /** Called when a job waits here no more. */
  onLeave: (job: Job) => void;
}

/** The places of one key. */
interface KeyPlaces<Job extends Sent> {
  held: Set<LanePlace<Job>>;
  /** Places with a ticket. */
  published: number;
}

/** The keys of an owner. */
type OwnerPlaces<Job extends Sent> = TurnOrder<KeyPlaces<Job>>;

/**
 * The jobs of one ingress that wait in one lane. Owners take turns, and so do the keys of each owner, by their weights and however
 * many requests they have sent. Only a few jobs have a ticket: lanes are first come, first served, so a ticket for each would put everybody else
 * behind the longest queue. A claim that comes for a ticket goes to the job whose turn it is, also when the ticket's own job is
 * over: its ticket stands for the next one, so that jobs which are cancelled do not fill the queue with tickets.
 */
export class FairLane<Job extends Sent> {
  readonly #publish: FairLaneOptions<Job>['publish'];
  readonly #onLeave: FairLaneOptions<Job>['onLeave'];
  /** By owner and key, in the order of turns: owners that have just come, and those that have had a turn. */
  readonly #newcomers = new TurnOrder<OwnerPlaces<Job>>();
  readonly #regulars = new TurnOrder<OwnerPlaces<Job>>();
  /** Whether the last turn was a newcomer's: the next is not, so that nobody gains by leaving and coming back. */
  #wasNewcomer = false;
  #published = 0;
  #held = 0;
  /** Tickets in the lane whose job waits here no more, as far as this ingress knows. */
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

  /** Claims per second that were granted lately. */
  ratePerSecond(now: number): number {
    return (this.#claims * Math.exp((this.#claimedAt - now) / 1000 / averagedSeconds)) / averagedSeconds;
  }

  /**
   * Milliseconds until the last job of a key is claimed, or one that is not here yet. For every one of its jobs, others have turns
   * by their weights, if they have as many jobs.
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
   * Adds a job. Unless it is held, the caller publishes its ticket.
   * @param isUrgent whether it gets a ticket in any case
   */
  enter(job: Job, isUrgent: boolean): LanePlace<Job> {
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
   * Removes a job, which is claimed or over, and publishes the next ones.
   * @param leavesTicket whether its ticket stays in the lane
   */
  leave(place: LanePlace<Job>, leavesTicket: boolean): void {
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
   * The job that a claim goes to, while the one that it came for still waits. Its key has had its turn then.
   * @param mayTake whether the worker may have this job
   */
  turn(claimed: Job, mayTake: (job: Job) => boolean): Job {
    const taken = this.#jobInTurn(claimed, mayTake) ?? claimed;
    this.#count(taken);
    return taken;
  }

  /** The job that a claim goes to whose own job waits no more: the ticket is spent. @returns undefined if no job is without one */
  turnOfSpare(mayTake: (job: Job) => boolean): Job | undefined {
    this.#spare = Math.max(0, this.#spare - 1);
    const taken = this.#jobInTurn(undefined, mayTake);
    if (taken) this.#count(taken);
    else this.#publishNext();
    return taken;
  }

  /** The lane may have lost its tickets: those without a job do not count any more. */
  forgetSpare(): void {
    this.#spare = 0;
    this.#publishNext();
  }

  /** Whether jobs wait, and none was claimed for a while. */
  standsStill(now: number): boolean {
    return now - Math.max(this.#claimedAt, this.#waitingSince) >= stillMs;
  }

  /**
   * Publishes more tickets when none was claimed for a while: those in the lane may have come to workers that are gone.
   * @param freeSlots of the lane's pool
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

  /** The claim was granted to a job. */
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

  /** The first job without a ticket that may be taken, unless the one that was claimed comes before it. */
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

  /** Whether one more ticket is due, beside those in the lane. */
  #hasRoom(): boolean {
    const rate = this.ratePerSecond(performance.now());
    return this.#published + this.#spare < Math.max(minTickets, Math.ceil((rate * aheadMs) / 1000));
  }

  /** @param keyed the key whose ticket went: it goes first, because a job without a ticket can be given the claim for anybody's */
  #publishNext(keyed?: KeyPlaces<Job>): void {
    while (this.#held > 0 && this.#hasRoom()) if (!keyed || !this.#publishOf(keyed)) this.#publishOne();
  }

  #publishOne(): void {
    for (const [, keys] of this.#turns()) {
      for (const [, keyed] of keys) if (this.#publishOf(keyed)) return;
    }
  }

  /** Publishes the ticket of the job of a key that has waited longest without one. @returns false if there is none */
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
    const keys = known ?? new TurnOrder<KeyPlaces<Job>>();
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
