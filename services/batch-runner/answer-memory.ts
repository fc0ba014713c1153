import { RouterError, ShortOfMemoryError } from '#shared/core/errors.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { computeMemoryShare, MemoryBudget } from '#shared/core/memory-budget.ts';

const mebibyte = 1024 * 1024;

/** Maximum bytes that the large answers of all lines and responses of a runner may use. */
const maxAnswerMemoryBytes = 128 * mebibyte;

/** An answer of at most this many bytes is not counted, because the number of running lines and responses is bounded. */
const uncountedBytes = 64 * 1024;

/** Milliseconds for which an answer waits for room. Even while the store is away, other answers take room for no longer. */
const maxWaitMs = 60_000;

/** Bytes reserved for an answer until it is recorded, for operations with large answers. */
const bytesByOperation: Partial<Record<ModelOperation, number>> = { draw: 8 * mebibyte, embed: mebibyte };

/**
 * Computes the bytes that the large answers of all lines and responses of a process may use: a twelfth of the memory limit, and at most 128
 * MiB. One answer may use half of them, because it is in memory up to eight times while its result is written.
 * @param memoryBytes the memory limit of this process; 0 if it has none
 */
export function computeAnswerBudget(memoryBytes: number): number {
  return Math.min(maxAnswerMemoryBytes, computeMemoryShare(12, memoryBytes));
}

interface WaitingAnswer {
  bytes: number;
  /** Ends the wait. */
  end: (isTaken: boolean) => void;
}

/** The memory of the large answers of a process. Answers that have come wait for room in their order, before requests that begin. */
export class AnswerBudget extends MemoryBudget {
  readonly #waiting = new Set<WaitingAnswer>();
  #waitingBytes = 0;

  /** Takes memory as `MemoryBudget.take` does, unless answers wait. */
  override take(amount: number): boolean {
    return this.#waiting.size === 0 && super.take(amount);
  }

  /**
   * Takes memory for an answer that has come, and waits for room if there is none. The answers that wait are in memory only once, so they
   * may have half as many bytes as the budget besides it.
   * @returns false if too many bytes wait, there is no room within a minute, or the signal aborts
   */
  async takeInTurn(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (this.take(bytes)) return true;
    if (signal.aborted || this.#waitingBytes + bytes > this.max / 2) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = (): void => {
      answer.end(false);
      this.#grantWaiting();
    };
    const timer = setTimeout(giveUp, maxWaitMs);
    const answer: WaitingAnswer = {
      bytes,
      end: (isTaken) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        this.#waiting.delete(answer);
        this.#waitingBytes -= bytes;
        resolve(isTaken);
      },
    };
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting.add(answer);
    this.#waitingBytes += bytes;
    return promise;
  }

  override release(amount: number): void {
    super.release(amount);
    this.#grantWaiting();
  }

  #grantWaiting(): void {
    for (const { bytes, end } of this.#waiting) {
      if (!super.take(bytes)) return;
      end(true);
    }
  }
}

/** The part of the runner's memory for answers that is reserved for one try of a line or one run of a response. */
export class AnswerMemory {
  readonly #budget: AnswerBudget;
  #reservedBytes = 0;

  constructor(budget: AnswerBudget) {
    this.#budget = budget;
  }

  /**
   * Reserves the bytes that an answer is likely to need.
   * @throws RouterError `overloaded` if there is not enough memory
   */
  reserve(operation: ModelOperation): void {
    const bytes = bytesByOperation[operation];
    if (bytes === undefined) return;
    if (!this.#budget.take(bytes)) throw createNoRoomError();
    this.#reservedBytes = bytes;
  }

  /**
   * Reserves the bytes of the answer that has come, until `release`. Waits for room, because another try would cost the answer once more.
   * @throws RouterError `request_exceeds_limit` if the answer is too large for this process; `overloaded` if there is no room within a
   * minute, or the signal aborts
   */
  async reserveAnswer(bytes: number, signal: AbortSignal): Promise<void> {
    if (bytes <= Math.max(uncountedBytes, this.#reservedBytes)) return;
    if (bytes > this.#budget.max / 2) throw new RouterError('request_exceeds_limit', 'The answer is too large.');
    // An answer that waits has nothing reserved. Otherwise, answers could wait for each other.
    this.release();
    if (!(await this.#budget.takeInTurn(bytes, signal))) throw createNoRoomError();
    this.#reservedBytes = bytes;
  }

  release(): void {
    const bytes = this.#reservedBytes;
    this.#reservedBytes = 0;
    this.#budget.release(bytes);
  }
}

function createNoRoomError(): RouterError {
  return new ShortOfMemoryError('The answers of batches and in the background take too much memory.', 1);
}
