import type { Tier } from '#shared/core/tier.ts';
import type { Announcement, ModelInfo, ToolInfo } from '../../contract/announcement.ts';
import { formatWorkerId, type WorkerAddress } from '../../contract/worker-address.ts';
import { computeRendezvousPoint } from './rendezvous.ts';
import { WorkerHealth } from './worker-health.ts';

/** A group of interchangeable workers: the unit from which a request's lanes are chosen. */
export interface LivePool {
  /** Identifies the pool in this process, see `LivePools.computeKey`. */
  key: string;
  tier: Tier;
  /**
   * The announced token of the pool in the subjects of its lanes. If workers of another pool announce the same token, both pools share the
   * lanes.
   */
  pool: string;
  /** The version of the contract that this dispatcher speaks with the workers; undefined if they share no version. */
  contract: number | undefined;
  formats: readonly string[];
  models: readonly ModelInfo[];
  tools: readonly ToolInfo[];
  workers: Set<LiveWorker>;
  /** The number of tickets of this dispatcher that wait in the pool's lanes. */
  waiting: number;
}

/**
 * A worker that sends heartbeats, as one dispatcher sees it. Only its own methods change it. Times are milliseconds of `performance.now()`.
 */
export class LiveWorker {
  /** The worker's name in the whole cluster, see `formatWorkerId`. */
  readonly id: string;
  /** The worker's number for affinity, see `computeRendezvousPoint`. */
  readonly affinityPoint: number;
  /** The worker's address. The broker has checked it, so no worker can act for another worker. */
  readonly address: WorkerAddress;
  /**
   * When this dispatcher first saw the worker, or saw it again after a loss. For a worker that is older than the dispatcher, this is
   * shortly after the dispatcher's start.
   */
  readonly joinedAt = performance.now();
  /** The outcomes of the worker's jobs at this dispatcher: its ejections, and its times to the first token. */
  readonly health = new WorkerHealth();
  readonly #proofOfLife = new ProofOfLife();
  #announcement: Announcement;
  #announcementBytes: Buffer;
  #pool: LivePool;
  #announcedBusy = 0;
  #lastHeartbeatAt = 0;
  #lastFrameAt = 0;
  #ownJobs = 0;
  #otherJobs = 0;
  #getsOffers = true;

  /** @param announcementBytes the announcement as it came */
  constructor(address: WorkerAddress, announcement: Announcement, announcementBytes: Buffer, pool: LivePool) {
    this.id = formatWorkerId(address);
    this.affinityPoint = computeRendezvousPoint(this.id);
    this.address = address;
    this.#announcement = announcement;
    this.#announcementBytes = announcementBytes;
    this.#pool = pool;
    this.#recordAnnouncedBusy();
  }

  /** The last announcement, with the number of busy slots of the last heartbeat. */
  get announcement(): Readonly<Announcement> {
    return this.#announcement;
  }

  /** The announcement as it came. An announcement with the same bytes need not be parsed. */
  get announcementBytes(): Buffer {
    return this.#announcementBytes;
  }

  get pool(): LivePool {
    return this.#pool;
  }

  /** When the last heartbeat came, or when the silence of all workers was last reset. */
  get lastHeartbeatAt(): number {
    return this.#lastHeartbeatAt;
  }

  /** The last time at which the worker was certainly alive, see `ProofOfLife`. */
  get provenAliveAt(): number {
    return this.#proofOfLife.provenAt;
  }

  /** When the last frame of any of the worker's jobs came; 0 before the first frame. A worker that sends frames is alive. */
  get lastFrameAt(): number {
    return this.#lastFrameAt;
  }

  /** The number of jobs that this dispatcher has granted or offered to the worker and that are still running. */
  get ownJobs(): number {
    return this.#ownJobs;
  }

  /** The number of the worker's jobs of other dispatchers, according to its last heartbeat. */
  get otherJobs(): number {
    return this.#otherJobs;
  }

  /** The number of slots without a job. Negative if dispatchers have given the worker more jobs than it has slots. */
  get freeSlots(): number {
    return this.#announcement.slots - this.#otherJobs - this.#ownJobs;
  }

  /** False after a refused offer or a late heartbeat, until the worker's next heartbeat. */
  get getsOffers(): boolean {
    return this.#getsOffers;
  }

  /** Whether the worker takes jobs and is not ejected with the model; without a model, with any model. */
  isHealthy(model?: string): boolean {
    return this.#announcement.accepting && !this.health.isEjected(model);
  }

  /**
   * Whether the worker gets no job with a model: it is ejected, no probe is due, and its pool has a healthy worker. Without a healthy
   * worker in the pool, an ejected worker still gets jobs.
   * @param avoid the ids of workers that the job must avoid. If there are any, the job is a probe only if no other healthy worker can get it
   */
  isLeftOut(model: string, now: number, avoid: ReadonlySet<string>): boolean {
    const isProbeDue = this.health.mayTake(model, now);
    if (isProbeDue && (avoid.size === 0 || !this.health.isEjected(model))) return false;
    for (const peer of this.#pool.workers)
      if (peer.isHealthy(model) && !(isProbeDue && avoid.has(peer.id))) return true;
    return false;
  }

  /** Whether the worker may get jobs with a model now, if it has a free slot. */
  isAvailable(model: string, now: number, avoid: ReadonlySet<string>): boolean {
    return this.#announcement.accepting && !this.isLeftOut(model, now, avoid);
  }

  /** Records that the worker gets a job of this dispatcher. */
  take(grant: string, model: string): void {
    this.#ownJobs += 1;
    this.health.find(model)?.recordJob(grant);
  }

  /** Records that the worker does not have a job of this dispatcher any more. */
  release(grant: string, model: string): void {
    if (this.#ownJobs === 0) throw new Error('a worker released a job that it did not have');
    this.#ownJobs -= 1;
    this.health.find(model)?.recordJobEnd(grant);
  }

  recordFrame(now: number): void {
    this.#lastFrameAt = now;
  }

  /**
   * Records a heartbeat.
   * @param busy the number of busy slots in the heartbeat
   */
  recordHeartbeat(busy: number): void {
    this.#announcement.busy = busy;
    this.#lastHeartbeatAt = performance.now();
    this.#proofOfLife.onHeartbeat(this.#lastHeartbeatAt);
    this.#otherJobs = Math.max(0, busy - this.#ownJobs);
    this.#getsOffers = true;
  }

  /** Records that the worker has sent its announcement again, unchanged. */
  recordSameAnnouncement(): void {
    this.recordHeartbeat(this.#announcedBusy);
  }

  /**
   * Replaces the announcement and the pool. An unchanged `announcementBytes` means that the announcement was only parsed again, which is
   * not a sign of life.
   */
  update(announcement: Announcement, announcementBytes: Buffer, pool: LivePool): void {
    const isNew = this.#announcementBytes !== announcementBytes;
    this.#announcement = announcement;
    this.#announcementBytes = announcementBytes;
    this.#pool = pool;
    if (isNew) this.#recordAnnouncedBusy();
  }

  /** Gives the worker no offers until its next heartbeat. */
  stopOffers(): void {
    this.#getsOffers = false;
  }

  /** Counts the worker's silence from `now` on, because heartbeats that came earlier were not read. */
  restartSilence(now: number): void {
    this.#lastHeartbeatAt = now;
  }

  #recordAnnouncedBusy(): void {
    this.#announcedBusy = this.#announcement.busy;
    this.recordHeartbeat(this.#announcedBusy);
  }
}

/** Minimum milliseconds between two heartbeats for the second to prove that the worker was alive when the first came. */
const minIntervalMs = 500;

/**
 * Determines the last time at which a worker was certainly alive. A single heartbeat proves nothing, because a server that was blocked
 * delivers the earlier messages of a dead worker all at once. Two heartbeats with enough time between them prove that the worker was alive
 * when the first came.
 */
export class ProofOfLife {
  #provenAt = Number.NEGATIVE_INFINITY;
  #lastCountedAt = Number.NEGATIVE_INFINITY;

  /** The last time at which the worker was certainly alive, in milliseconds of `performance.now()`; up to two heartbeats behind. */
  get provenAt(): number {
    return this.#provenAt;
  }

  onHeartbeat(now: number): void {
    if (now - this.#lastCountedAt < minIntervalMs) return;
    this.#provenAt = this.#lastCountedAt;
    this.#lastCountedAt = now;
  }
}
