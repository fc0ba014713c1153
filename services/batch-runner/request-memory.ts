import { ShortOfMemoryError, type RouterError } from '#shared/core/errors.ts';
import { heavyBytes, type HeavyTask } from './heavy-work.ts';
import { MemoryBudget, computeMemoryShare } from '#shared/core/memory-budget.ts';
import type { MemoryBound } from '#shared/serving/serve-model.ts';

/**
 * Computes the most bytes that all requests of a process may have together: four times the largest body, but at most a sixteenth of the
 * memory, because each request is in memory several times. A single larger request is accepted while there is no other.
 * @param memoryBytes memory limit of this process; 0 if it has none
 */
export function computeRequestBudget(maxBodyBytes: number, memoryBytes: number): number {
  return Math.min(4 * maxBodyBytes, computeMemoryShare(16, memoryBytes));
}

interface HoldingRequest {
  /** Bytes that the request holds. */
  heldBytes: number;
  /** Bytes that the request has taken, those that it holds included. Any amount fits while there is no other request. */
  requestBytes: number;
}

/** The memory of all requests of a process. What requests hold while they run is shared among their owners. */
export class RequestBudget extends MemoryBudget {
  readonly #heldByOwner = new Map<string, number>();

  /**
   * Takes bytes that a running request holds. Within the bound of its owner, if other requests of the owner hold bytes, as many bytes must
   * stay free as all of them hold.
   * @returns false if there is no room
   */
  hold(owner: string, bytes: number, bound: MemoryBound, { heldBytes, requestBytes }: HoldingRequest): boolean {
    const ownerBytes = this.#heldByOwner.get(owner) ?? 0;
    if (bound === 'owner' && ownerBytes > heldBytes && ownerBytes + bytes > this.max - this.taken - bytes) {
      this.refusals += 1;
      return false;
    }
    if (!this.take(bytes, requestBytes)) return false;
    this.#heldByOwner.set(owner, ownerBytes + bytes);
    return true;
  }

  /** Gives back what a request of the owner holds. */
  releaseHeld(owner: string, bytes: number): void {
    const ownerBytes = (this.#heldByOwner.get(owner) ?? 0) - bytes;
    if (ownerBytes > 0) this.#heldByOwner.set(owner, ownerBytes);
    else this.#heldByOwner.delete(owner);
    this.release(bytes);
  }
}

export interface RequestMemoryOptions {
  /** Memory budget of all requests of this process. */
  budget: RequestBudget;
  owner: string;
  heavyTask: HeavyTask;
  /** Bytes of the budget that the caller has reserved for the request, and releases itself. */
  reservedBytes?: number;
}

/** Reserves the memory of one request and of everything that it refers to. Also begins and ends the heavy work on the request. */
export class RequestMemory {
  readonly #budget: RequestBudget;
  readonly #owner: string;
  readonly #heavyTask: HeavyTask;
  readonly #reservedBytes: number;
  /** Bytes of the reserved ones that `grow` has not used yet. */
  #unusedBytes: number;
  #requestBytes = 0;
  #grownBytes = 0;
  #heldBytes = 0;
  #isOpen = true;

  constructor({ budget, owner, heavyTask, reservedBytes = 0 }: RequestMemoryOptions) {
    this.#budget = budget;
    this.#owner = owner;
    this.#heavyTask = heavyTask;
    this.#reservedBytes = reservedBytes;
    this.#unusedBytes = reservedBytes;
  }

  /**
   * Reserves memory for bytes that are about to be read. Once the request has `heavyBytes` or more, working on it counts as heavy work (see
   * `HeavyWork`).
   * @throws RouterError `overloaded` if there is not enough memory, or as `beginHeavyWork` does
   */
  async grow(bytes: number): Promise<void> {
    const missingBytes = Math.max(0, bytes - this.#unusedBytes);
    if (missingBytes > 0 && !this.#budget.take(missingBytes)) throw createNoRoomError();
    this.#unusedBytes -= bytes - missingBytes;
    this.#grownBytes += missingBytes;
    this.#requestBytes += bytes;
    await this.beginIfLarge();
  }

  /** Gives back bytes of `grow` that are no longer in use. */
  shrink(bytes: number): void {
    if (!this.#isOpen) return;
    const returnedBytes = Math.min(bytes, this.#grownBytes);
    this.#budget.release(returnedBytes);
    this.#grownBytes -= returnedBytes;
    this.#unusedBytes += bytes - returnedBytes;
    this.#requestBytes -= bytes;
  }

  /**
   * Reserves memory for what the request keeps while it runs, see `ModelSink.hold`.
   * @throws RouterError `overloaded` if there is not enough memory
   */
  hold(bytes: number, bound: MemoryBound): void {
    if (!this.#isOpen) return;
    const requestBytes = this.#reservedBytes + this.#grownBytes + this.#heldBytes;
    if (!this.#budget.hold(this.#owner, bytes, bound, { heldBytes: this.#heldBytes, requestBytes }))
      throw createNoRoomError();
    this.#heldBytes += bytes;
  }

  /**
   * Begins heavy work on the request.
   * @throws RouterError `workers_died` if two processes died while they worked on the request; `store_unavailable`
   */
  async beginHeavyWork(): Promise<void> {
    const refusal = await this.#heavyTask.begin();
    if (refusal) throw refusal;
  }

  /**
   * Begins heavy work if the request is large.
   * @throws RouterError as `beginHeavyWork` does
   */
  async beginIfLarge(): Promise<void> {
    if (this.#requestBytes >= heavyBytes) await this.beginHeavyWork();
  }

  /** Ends the heavy work. Call it before the request waits, or once a worker has the request. */
  endHeavyWork(): void {
    this.#heavyTask.end();
  }

  release(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.endHeavyWork();
    this.#budget.release(this.#grownBytes);
    this.#budget.releaseHeld(this.#owner, this.#heldBytes);
  }
}

function createNoRoomError(): RouterError {
  return new ShortOfMemoryError('The requests of batches and in the background take too much memory.', 2);
}
