import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from '#shared/core/log.ts';
import { MemoryBudget } from '#shared/core/memory-budget.ts';
import type { Broker } from '../connection/connect-broker.ts';
import type { Announcement } from '../contract/announcement.ts';
import { ownContract, type ContractRange } from '../contract/contract-range.ts';
import { derivePoolToken } from '../contract/pool-token.ts';
import type { WorkerAddress } from '../contract/worker-address.ts';
import { FrameMemory } from './frame-memory.ts';
import type { WorkerFacts, WorkerOptions } from './worker-options.ts';

/** What the parts of one worker share: its address, its memory, what it serves, and how many of its slots are in use. */
export class WorkerState {
  readonly options: WorkerOptions;
  readonly broker: Broker;
  readonly log: Logger;
  readonly address: WorkerAddress;
  /** The subject prefix of the worker's own inbox. */
  readonly inbox: string;
  readonly contract: ContractRange;
  /** The memory for sent frames. */
  readonly memory: FrameMemory;
  /** The memory budget for the bodies of jobs. */
  readonly bodies: MemoryBudget;
  /** When this worker started, in milliseconds since 1970. */
  readonly startedAt = Date.now();
  #facts: WorkerFacts;
  #pool: string;
  #busy = 0;
  #isStopping = false;
  #isDrained = false;

  /** @throws ConfigError if the broker's credential is for another tier */
  constructor(options: WorkerOptions) {
    const { broker, log, id, tier, contract = ownContract } = options;
    const { memory = new FrameMemory(), bodies = new MemoryBudget(Infinity) } = options;
    const credentialName = broker.requireCredentialName(tier);
    this.options = options;
    this.broker = broker;
    this.log = log;
    this.address = { tier, credentialName, worker: id, process: broker.userKey ?? randomUUID() };
    this.inbox = broker.subjects.inbox(this.address);
    this.contract = contract;
    this.memory = memory;
    this.bodies = bodies;
    this.#facts = options;
    this.#pool = this.#derivePool();
  }

  get facts(): Readonly<WorkerFacts> {
    return this.#facts;
  }

  /** The pool that the worker announces. */
  get pool(): string {
    return this.#pool;
  }

  /** The number of slots in use: by running jobs, and by claims under way. */
  get busy(): number {
    return this.#busy;
  }

  /** The part of the announcement that changes with the worker's load. */
  get status(): Pick<Announcement, 'slots' | 'busy' | 'accepting' | 'reason'> & { draining: boolean } {
    const { slots, accepting, reason } = this.#facts;
    return {
      slots,
      busy: Math.min(this.#busy, slots),
      accepting,
      draining: this.#isStopping || this.#isDrained,
      reason,
    };
  }

  /** Changes the facts. `reason` and `resumesAt` are removed unless `change` contains them. */
  update(change: Partial<WorkerFacts>): void {
    this.#facts = { ...this.#facts, reason: undefined, resumesAt: undefined, ...change };
    this.#pool = this.#derivePool();
  }

  /** Drains or undrains the worker by an operator's command. */
  setDrained(isDrained: boolean): void {
    this.#isDrained = isDrained;
  }

  /** Lets the worker take no further jobs, because it is being stopped. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Records that a claim or a job uses a slot. */
  takeSlot(): void {
    this.#busy += 1;
  }

  /** Records that a claim or a job has ended and uses its slot no more. */
  freeSlot(): void {
    this.#busy -= 1;
  }

  /** Returns the number of slots that are free right now; 0 while the worker takes no jobs. */
  countFreeSlots(): number {
    if (this.#isStopping || this.#isDrained || !this.#facts.accepting || !this.broker.connected) return 0;
    return this.#facts.slots - this.#busy;
  }

  createAnnouncement(): Announcement {
    const { id, tier, formats, version } = this.options;
    const { models, tools = [], resumesAt } = this.#facts;
    const { status } = this;
    return {
      ...status,
      v: this.contract.newest,
      oldest: this.contract.oldest,
      worker: id,
      tier,
      pool: this.#pool,
      models,
      tools,
      formats: [...formats],
      accepting: status.accepting && !status.draining,
      resumesAt,
      offersAt: `${this.inbox}.offer.${this.#pool}`,
      host: hostname(),
      version,
      startedAt: this.startedAt,
    };
  }

  #derivePool(): string {
    return derivePoolToken({ ...this.options, ...this.#facts, contract: this.contract });
  }
}
