import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/core/log.ts';
import { goodbye, type Announcement } from '../../contract/announcement.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import { ownContract, type ContractRange } from '../../contract/contract-range.ts';
import type { Tier } from '#shared/core/tier.ts';
import {
  maxAnnounceMs,
  decodeShortHeartbeat,
  encodeAnnounceRequest,
  type ShortHeartbeat,
} from '../../contract/heartbeats.ts';
import { parseWorkerAddress, formatWorkerId, type WorkerAddress } from '../../contract/worker-address.ts';
import { AnnouncementReader } from './announcement-reader.ts';
import { AnnouncementRequests } from './announcement-requests.ts';
import { countOtherJobs, lossTexts, serves, type LivePool, type LiveWorker, type Loss } from './live-pool.ts';
import { LivePools } from './live-pools.ts';
import { logJoined } from './log-joined.ts';
import { CredentialModelRules, type CredentialEntries } from './model-claims.ts';
import { OwnerUsage, type WorkerShare } from './owner-shares.ts';
import { ProofOfLife } from './proof-of-life.ts';
import { rendezvousPoint } from './rendezvous.ts';
import { SilenceCheck } from './silence-check.ts';
import { ToolClaims } from './tool-claims.ts';
import { WorkerHealth } from './worker-health.ts';

/** Maximum workers; further ones on the broker are ignored, with a log line. */
const maxWorkers = 10_000;

const announceWaitMs = maxAnnounceMs + 50;

/**
 * The workers that send heartbeats, and the pools that they form. While the connection to the broker is down, or the broker is blocked, no
 * worker counts as lost, because its silence then proves nothing.
 */
export class LiveWorkers {
  readonly #broker: Broker;
  readonly #log: Logger;
  readonly #contract: ContractRange;
  /** The workers by id. */
  readonly #workers = new Map<string, LiveWorker>();
  /** The workers by the subject of their heartbeats. */
  readonly #bySubject = new Map<string, LiveWorker>();
  readonly #shares = new OwnerUsage(process.constrainedMemory());
  readonly #claims = { models: new CredentialModelRules(), tools: new ToolClaims() };
  readonly #pools: LivePools;
  readonly #lostListeners = new Set<(worker: LiveWorker, loss: Loss) => void>();
  readonly #changeListeners = new Set<() => void>();
  readonly #requests: AnnouncementRequests;
  readonly #reader: AnnouncementReader;
  readonly #silence: SilenceCheck;
  readonly #stopListening: () => void;

  /** @param contract the versions of the contract that this dispatcher speaks */
  constructor(broker: Broker, log: Logger, contract = ownContract) {
    this.#broker = broker;
    this.#log = log;
    this.#contract = contract;
    this.#pools = new LivePools(contract);
    this.#requests = new AnnouncementRequests(broker);
    this.#reader = new AnnouncementReader(broker.subjects, log, this.#claims);
    const heartbeats = broker.subscribe(broker.subjects.allHeartbeats, ({ data, subject }) =>
      this.#onHeartbeat(data, subject),
    );
    this.#silence = new SilenceCheck(broker, log, this.#workers, (silent) => this.#remove(silent, 'silent'));
    this.#stopListening = () => {
      heartbeats.unsubscribe();
      this.#requests.close();
    };
  }

  /**
   * Requests every worker's announcement, so that a new dispatcher need not wait for their heartbeats. Resolves after the time that
   * workers need to answer; never rejects.
   */
  requestAnnouncements(): Promise<void> {
    this.#broker.publish(this.#broker.subjects.announceRequest, encodeAnnounceRequest({ kind: 'again' }));
    return sleep(announceWaitMs);
  }

  /** Sets the models that workers may serve, by their credential, and parses all announcements again. */
  setCredentialModels(granted: CredentialEntries): void {
    this.#claims.models.setRules(granted);
    this.#claims.tools.grant(granted);
    for (const worker of this.#workers.values()) this.#readAgain(worker);
  }

  close(): void {
    this.#silence.close();
    this.#stopListening();
  }

  get(id: string): LiveWorker | undefined {
    return this.#workers.get(id);
  }

  at(address: WorkerAddress): LiveWorker | undefined {
    const worker = this.#workers.get(formatWorkerId(address));
    return worker?.address.tier === address.tier ? worker : undefined;
  }

  get size(): number {
    return this.#workers.size;
  }

  workers(): Iterable<LiveWorker> {
    return this.#workers.values();
  }

  /** See `LivePools`, which implements this method and the following ones. */
  pools(): Iterable<LivePool> {
    return this.#pools.all();
  }

  lostPools(now = performance.now()): LivePool[] {
    return this.#pools.lost(now);
  }

  isKnownModel(id: string): boolean {
    return this.#pools.isKnownModel(id);
  }

  tiersOf(id: string): ReadonlySet<Tier> {
    return this.#pools.tiersOf(id);
  }

  isKnownTool(name: string): boolean {
    return this.#pools.isKnownTool(name);
  }

  /**
   * Calls the listener for each worker that is lost or has left, before its jobs are taken from it. If many are lost at once, all of
   * them are removed before the first call.
   */
  onLost(listener: (worker: LiveWorker, loss: Loss) => void): void {
    this.#lostListeners.add(listener);
  }

  /** Calls the listener when a pool, or what it accepts, has changed, because waiting requests may then go to another pool. */
  onChange(listener: () => void): void {
    this.#changeListeners.add(listener);
  }

  #onHeartbeat(payload: Uint8Array, subject: string): void {
    const beat = decodeShortHeartbeat(payload);
    const beating = beat && this.#bySubject.get(subject);
    // Nearly all heartbeats end here: thousands each second in a large cluster.
    if (beating && beating.announcement.digest === beat.digest) return this.#isAlive(beating, beat.busy);
    const address = parseWorkerAddress(subject);
    if (!address) return;
    const id = formatWorkerId(address);
    const known = this.#workers.get(id);
    if (payload.length === goodbye.length && Buffer.from(payload).toString() === goodbye) {
      if (known?.address.tier === address.tier) this.#remove([known], 'left');
      return;
    }
    const ofKnown = known?.address.tier === address.tier ? known : undefined;
    if (beat) return this.#onUnknownBeat(beat, address, ofKnown);
    if (ofKnown?.raw.equals(payload)) return this.#isAlive(ofKnown, ofKnown.announcedBusy);
    const announcement = this.#reader.read(payload, address);
    if (announcement === undefined) return;
    if (announcement === 'late') return ofKnown && this.#isAlive(ofKnown, ofKnown.announcement.busy);
    if (known && announcement.startedAt < known.announcement.startedAt) {
      this.#log.error({ worker: id }, 'two workers have the same id: the one that started first is ignored');
      return;
    }
    if (known && announcement.startedAt > known.announcement.startedAt) this.#remove([known], 'replaced');
    this.#record(address, announcement, Buffer.from(payload));
  }

  /** Parses a worker's announcement again because the models that it may serve have changed. This is not a sign of life. */
  #readAgain({ raw, address, announcement: { busy } }: LiveWorker): void {
    const announcement = this.#reader.readAgain(raw, address);
    if (announcement) this.#record(address, { ...announcement, busy }, raw);
  }

  /** Handles a short heartbeat whose announcement has not arrived. A known worker whose announcement has changed is alive as well. */
  #onUnknownBeat({ digest }: ShortHeartbeat, address: WorkerAddress, known: LiveWorker | undefined): void {
    if (known) this.#isAlive(known, known.announcement.busy);
    this.#requests.ask(address, () => this.at(address)?.announcement.digest !== digest);
  }

  #isAlive(worker: LiveWorker, busy: number): void {
    worker.announcement.busy = busy;
    worker.lastHeartbeatAt = performance.now();
    worker.proofOfLife.onHeartbeat(worker.lastHeartbeatAt);
    worker.otherJobs = countOtherJobs(worker);
    worker.hasRefused = false;
  }

  #record(address: WorkerAddress, read: Announcement, raw: Buffer): void {
    const id = formatWorkerId(address);
    const known = this.#workers.get(id);
    const key = this.#pools.keyFor(read);
    const isFull = !known && this.#workers.size >= maxWorkers;
    const share = { pool: key, models: read.models.length, bytes: raw.length };
    if (isFull || !this.#shares.change(address.owner, known && shareOf(known), share)) {
      const why = isFull
        ? 'too many workers, one is ignored'
        : 'a credential has too many workers, pools or models, one worker is ignored';
      return this.#log.error({ worker: id }, why);
    }
    const pool = this.#pools.getPool(key, read);
    // Replicas announce the same models and tools, which are stored once.
    const announcement = { ...read, models: pool.models, tools: pool.tools };
    // The console shows such a worker, and it gets no jobs.
    if (pool.contract === undefined) announcement.accepting = false;
    const worker: LiveWorker = known ?? {
      id,
      affinityPoint: rendezvousPoint(id),
      address,
      announcement,
      pool,
      raw,
      announcedBusy: 0,
      joinedAt: performance.now(),
      lastHeartbeatAt: 0,
      proofOfLife: new ProofOfLife(),
      lastFrameAt: 0,
      held: 0,
      otherJobs: 0,
      hasRefused: false,
      health: new WorkerHealth(),
    };
    const changed =
      !known ||
      known.pool !== pool ||
      known.announcement.accepting !== announcement.accepting ||
      known.announcement.slots !== announcement.slots;
    if (worker.pool !== pool) {
      this.#pools.removeWorker(worker);
      worker.health.keepOnly((model) => serves(pool, model));
    }
    const hasCome = !known || known.raw !== raw;
    Object.assign(worker, { announcement, pool, raw, ...(hasCome && { announcedBusy: announcement.busy }) });
    if (hasCome) this.#isAlive(worker, announcement.busy);
    pool.workers.add(worker);
    this.#workers.set(id, worker);
    this.#bySubject.set(this.#broker.subjects.heartbeat(worker.address), worker);
    if (!known) logJoined(this.#log, worker, this.#contract);
    if (changed) for (const listener of this.#changeListeners) listener();
    const { models, tools } = announcement;
    for (const other of this.#claims.models.recordServed(address, models, this.#workers.values()))
      this.#readAgain(other);
    for (const other of this.#claims.tools.served(address, tools, this.#workers.values())) this.#readAgain(other);
  }

  #remove(workers: readonly LiveWorker[], loss: Loss): void {
    if (workers.length === 0) return;
    for (const worker of workers) {
      this.#workers.delete(worker.id);
      this.#bySubject.delete(this.#broker.subjects.heartbeat(worker.address));
      this.#shares.change(worker.address.owner, shareOf(worker), undefined);
      this.#pools.removeWorker(worker);
      this.#log.info({ worker: worker.id, held: worker.held }, lossTexts[loss]);
    }
    for (const worker of workers) for (const listener of this.#lostListeners) listener(worker, loss);
    for (const listener of this.#changeListeners) listener();
  }
}

function shareOf({ pool, raw }: LiveWorker): WorkerShare {
  return { pool: pool.key, models: pool.models.length, bytes: raw.length };
}
