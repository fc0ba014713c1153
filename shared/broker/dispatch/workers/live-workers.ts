import { setTimeout as sleep } from 'node:timers/promises';
import { Listeners } from '#shared/core/listeners.ts';
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
import { formatWorkerId, parseWorkerAddress, type WorkerAddress } from '../../contract/worker-address.ts';
import { AnnouncementReader } from './announcement-reader.ts';
import { AnnouncementRequests } from './announcement-requests.ts';
import { lossTexts, servesName, type Loss } from './live-pool.ts';
import { LivePools } from './live-pools.ts';
import { CredentialModelRules, type CredentialEntries } from './credential-model-rules.ts';
import { CredentialUsage, type WorkerShare } from './credential-usage.ts';
import { lateAfterMs, SilenceCheck } from './silence-check.ts';
import { CredentialToolRules } from './credential-tool-rules.ts';
import { WorkerMessages } from './worker-messages.ts';
import { type LivePool, LiveWorker } from './live-worker.ts';

/** Maximum workers. Further workers on the broker are ignored, with a log line. */
const maxWorkers = 10_000;

/** Milliseconds in which workers announce themselves on request, and a margin. */
const announceWaitMs = maxAnnounceMs + 50;

/**
 * The workers that send heartbeats, and the pools that they form. While the connection to the broker is down, or the broker is blocked, no
 * worker counts as lost, because the silence of a worker then proves nothing.
 */
export class LiveWorkers {
  /** Decides which small messages of workers are read. */
  readonly workerMessages: WorkerMessages;
  readonly #broker: Broker;
  readonly #log: Logger;
  readonly #contract: ContractRange;
  /** The workers by id. */
  readonly #workers = new Map<string, LiveWorker>();
  /** The workers by the subject of their heartbeats. */
  readonly #bySubject = new Map<string, LiveWorker>();
  readonly #usage = new CredentialUsage(process.constrainedMemory());
  readonly #rules = { models: new CredentialModelRules(), tools: new CredentialToolRules() };
  readonly #pools: LivePools;
  readonly #lostListeners: Listeners<[worker: LiveWorker, loss: Loss]>;
  readonly #changeListeners: Listeners;
  readonly #requests: AnnouncementRequests;
  readonly #reader: AnnouncementReader;
  readonly #silenceCheck: SilenceCheck;
  readonly #stopListening: () => void;

  /** @param contract the versions of the contract that this dispatcher speaks */
  constructor(broker: Broker, log: Logger, contract = ownContract) {
    this.#broker = broker;
    this.#log = log;
    this.#contract = contract;
    this.workerMessages = new WorkerMessages(log, (credentialName) => this.#usage.countWorkers(credentialName));
    this.#lostListeners = new Listeners('a worker is lost', log);
    this.#changeListeners = new Listeners('workers have changed', log);
    this.#pools = new LivePools(contract);
    this.#requests = new AnnouncementRequests(broker);
    this.#reader = new AnnouncementReader(broker.subjects, log, this.#rules);
    const heartbeats = broker.subscribe(broker.subjects.allHeartbeats, ({ data, subject }) =>
      this.#onHeartbeat(data, subject),
    );
    this.#silenceCheck = new SilenceCheck(broker, this.#workers, (silent) => this.#remove(silent, 'silent'), log);
    this.#stopListening = () => {
      heartbeats.unsubscribe();
      this.#requests.close();
    };
  }

  /**
   * Requests the announcements of all workers, so that a new dispatcher need not wait for heartbeats. Resolves after the time in which
   * workers answer; never rejects.
   */
  requestAnnouncements(): Promise<void> {
    this.#broker.publish(this.#broker.subjects.announceRequest, encodeAnnounceRequest({ kind: 'again' }));
    return sleep(announceWaitMs);
  }

  /** Sets the models and tools that workers may serve, by their credential, and parses all announcements again. */
  setCredentialEntries(entries: CredentialEntries): void {
    this.#rules.models.setEntries(entries);
    this.#rules.tools.setEntries(entries);
    for (const worker of this.#workers.values()) this.#readAgain(worker);
  }

  close(): void {
    this.#silenceCheck.close();
    this.#stopListening();
  }

  get(id: string): LiveWorker | undefined {
    return this.#workers.get(id);
  }

  /** Returns the worker at an address; undefined if there is none, or if another process has announced the worker. */
  findByAddress(address: WorkerAddress): LiveWorker | undefined {
    const worker = this.#workers.get(formatWorkerId(address));
    return worker?.address.tier === address.tier && worker.address.process === address.process ? worker : undefined;
  }

  get size(): number {
    return this.#workers.size;
  }

  workers(): Iterable<LiveWorker> {
    return this.#workers.values();
  }

  /** See `LivePools`, which implements this method and the following ones. */
  pools(): Iterable<LivePool> {
    return this.#pools.values();
  }

  findLostPools(now = performance.now()): LivePool[] {
    return this.#pools.findLost(now);
  }

  isKnownModel(id: string): boolean {
    return this.#pools.isKnownModel(id);
  }

  findTiers(id: string): ReadonlySet<Tier> {
    return this.#pools.findTiers(id);
  }

  isKnownTool(name: string): boolean {
    return this.#pools.isKnownTool(name);
  }

  /**
   * Whether a worker's tools and content servers take precedence over tools and content servers of other workers with the same name, see
   * `CredentialToolRules`.
   */
  hasTrustedTools({ address }: Pick<LiveWorker, 'address'>): boolean {
    return this.#rules.tools.isTrusted(address);
  }

  /**
   * Calls the listener for each worker that is lost or has left. If many workers are lost at once, all of them are removed before the first
   * call.
   */
  onLost(listener: (worker: LiveWorker, loss: Loss) => void): void {
    this.#lostListeners.add(listener);
  }

  /**
   * Calls the listener when a worker has joined, has left or has moved to another pool, when its slots have changed, and when it begins or
   * stops to take jobs.
   */
  onChange(listener: () => void): void {
    this.#changeListeners.add(listener);
  }

  #onHeartbeat(payload: Uint8Array, subject: string): void {
    const heartbeat = decodeShortHeartbeat(payload);
    const sender = heartbeat && this.#bySubject.get(subject);
    // Nearly all heartbeats are handled here: thousands each second in a large cluster. To count them would cost more than to handle them.
    if (sender && sender.announcement.digest === heartbeat.digest) return sender.recordHeartbeat(heartbeat.busy);
    const isGoodbye = payload.length === goodbye.length && Buffer.from(payload).toString() === goodbye;
    // The bytes of announcements have a rate of their own.
    const address =
      heartbeat || isGoodbye ? this.workerMessages.admit({ subject, data: payload }) : parseWorkerAddress(subject);
    if (!address) return;
    const id = formatWorkerId(address);
    const knownWorker = this.#workers.get(id);
    const knownSender = this.findByAddress(address);
    if (isGoodbye) {
      if (knownSender) this.#remove([knownSender], 'left');
      return;
    }
    // A process must not take over the jobs of another process by using its name. A process that replaces a killed one waits for a moment.
    const isTaken = knownWorker && !knownSender && performance.now() - knownWorker.lastHeartbeatAt < lateAfterMs;
    if (heartbeat) {
      if (!isTaken) this.#onUnknownDigest(heartbeat, address, knownSender);
      return;
    }
    if (knownSender?.announcementBytes.equals(payload)) return knownSender.recordSameAnnouncement();
    const announcement = this.#reader.read(payload, address);
    if (announcement === undefined) return;
    if (announcement === 'late') return knownSender?.recordHeartbeat(knownSender.announcement.busy);
    const startedLaterMs = knownWorker ? announcement.startedAt - knownWorker.announcement.startedAt : 0;
    if (isTaken || startedLaterMs < 0 || (startedLaterMs === 0 && knownWorker !== knownSender)) {
      this.#log.error({ worker: id }, 'two workers have the same id: one is ignored');
      return;
    }
    if (knownWorker && startedLaterMs > 0) this.#remove([knownWorker], 'replaced');
    this.#recordAnnouncement(address, announcement, Buffer.from(payload));
  }

  /** Parses a worker's announcement again because the models that it may serve have changed. This is not a sign of life. */
  #readAgain({ announcementBytes, address, announcement: { busy } }: LiveWorker): void {
    const announcement = this.#reader.readAgain(announcementBytes, address);
    if (announcement) this.#recordAnnouncement(address, { ...announcement, busy }, announcementBytes);
  }

  /** Handles a short heartbeat with the digest of an announcement that has not arrived. The heartbeat is nevertheless a sign of life. */
  #onUnknownDigest({ digest }: ShortHeartbeat, address: WorkerAddress, knownWorker: LiveWorker | undefined): void {
    knownWorker?.recordHeartbeat(knownWorker.announcement.busy);
    this.#requests.request(address, () => this.findByAddress(address)?.announcement.digest !== digest);
  }

  /** Adds the worker with this announcement, or updates it, unless a limit forbids that. */
  #recordAnnouncement(address: WorkerAddress, parsed: Announcement, announcementBytes: Buffer): void {
    const id = formatWorkerId(address);
    const knownWorker = this.#workers.get(id);
    const key = this.#pools.computeKey(parsed);
    const isFull = !knownWorker && this.#workers.size >= maxWorkers;
    const share = computeShare(key, parsed, announcementBytes);
    if (isFull || !this.#usage.change(address.credentialName, knownWorker && getShare(knownWorker), share)) {
      const message = isFull
        ? 'too many workers, one is ignored'
        : 'a credential announces too many workers, pools, models, tools, MCP servers or slots, one worker is ignored';
      return this.#log.error({ worker: id }, message);
    }
    const pool = this.#pools.getOrCreatePool(key, parsed);
    // The workers of a pool announce the same models and tools, which are stored once.
    const announcement = { ...parsed, models: pool.models, tools: pool.tools };
    // Without a common version of the contract, the worker gets no jobs. Only the console shows the worker.
    if (pool.contract === undefined) announcement.accepting = false;
    const hasChanged =
      !knownWorker ||
      knownWorker.pool !== pool ||
      knownWorker.announcement.accepting !== announcement.accepting ||
      knownWorker.announcement.slots !== announcement.slots;
    if (knownWorker && knownWorker.pool !== pool) {
      this.#pools.removeWorker(knownWorker);
      knownWorker.health.keepOnly((model) => servesName(pool, model));
    }
    knownWorker?.update(announcement, announcementBytes, pool);
    const worker = knownWorker ?? new LiveWorker(address, announcement, announcementBytes, pool);
    pool.workers.add(worker);
    this.#workers.set(id, worker);
    this.#bySubject.set(this.#broker.subjects.heartbeat(worker.address), worker);
    if (!knownWorker) logJoined(this.#log, worker, this.#contract);
    if (hasChanged) this.#changeListeners.call();
    const { models, tools } = announcement;
    for (const other of this.#rules.models.recordModels(address, models, this.#workers.values()))
      this.#readAgain(other);
    for (const other of this.#rules.tools.recordNames(address, tools, this.#workers.values())) this.#readAgain(other);
  }

  /** Removes workers, and then calls the listeners. */
  #remove(workers: readonly LiveWorker[], loss: Loss): void {
    if (workers.length === 0) return;
    for (const worker of workers) {
      this.#workers.delete(worker.id);
      this.#bySubject.delete(this.#broker.subjects.heartbeat(worker.address));
      this.#usage.change(worker.address.credentialName, getShare(worker), undefined);
      this.#pools.removeWorker(worker);
      this.#log.info({ worker: worker.id, held: worker.ownJobs }, lossTexts[loss]);
    }
    for (const worker of workers) this.#lostListeners.call(worker, loss);
    this.#changeListeners.call();
  }
}

function getShare({ pool, announcement, announcementBytes }: LiveWorker): WorkerShare {
  return computeShare(pool.key, announcement, announcementBytes);
}

function computeShare(pool: string, { models, tools, slots }: Announcement, { length: bytes }: Buffer): WorkerShare {
  const servers = tools.filter(({ passes }) => passes).length;
  return { pool, models: models.length, tools: tools.length, servers, slots, bytes };
}

/**
 * Logs that a worker has joined, and logs an error if it gets no jobs because of its release.
 * @param ownRange the versions of the contract that this dispatcher speaks
 */
function logJoined(log: Logger, { id: worker, announcement, pool }: LiveWorker, ownRange: ContractRange): void {
  const { tier, models, tools, slots, v: newest, oldest = newest, version } = announcement;
  log.info({ worker, tier, pool: pool.pool, models: models.length, tools: tools.length, slots }, 'worker joined');
  if (pool.contract !== undefined) return;
  const contract = { own: ownRange, worker: { oldest, newest } };
  log.error({ worker, version, contract }, 'worker gets no jobs: its release and this one are too far apart');
}
