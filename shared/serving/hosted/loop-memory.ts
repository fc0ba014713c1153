import type { HostedOutcome } from '#shared/formats/hosted/hosted-outcome.ts';
import type { MemoryBound } from '../serve-model.ts';

/** Bytes by which the memory of turns grows, because a turn comes in thousands of small pieces. */
const turnStepBytes = 64 * 1024;

/**
 * Counts the memory that an answer with hosted tools takes beside its request: the body of the current turn, what the answer keeps of the
 * model's turns, and the outcomes of calls. All of it is released with the answer.
 */
export class LoopMemory {
  readonly #hold: (bytes: number, bound: MemoryBound) => void;
  /** Bytes of the largest body so far. Only the body of the current turn is in memory. */
  #bodyBytes = 0;
  /** Bytes that the answer keeps of the current turn. */
  #turnBytes = 0;
  /** Bytes that are reserved for turns and not used yet. */
  #spareBytes = 0;

  /** @param hold reserves further bytes; throws RouterError if there is no room */
  constructor(hold: (bytes: number, bound: MemoryBound) => void) {
    this.#hold = hold;
  }

  /** Begins a turn. */
  holdBody(bytes: number): void {
    this.#turnBytes = 0;
    if (bytes <= this.#bodyBytes) return;
    this.#hold(bytes - this.#bodyBytes, 'owner');
    this.#bodyBytes = bytes;
  }

  /** @param bytes all that the answer keeps of the current turn */
  holdTurn(bytes: number): void {
    if (bytes <= this.#turnBytes) return;
    const missingBytes = bytes - this.#turnBytes - this.#spareBytes;
    if (missingBytes > 0) {
      const heldBytes = Math.max(missingBytes, turnStepBytes);
      this.#hold(heldBytes, 'process');
      this.#spareBytes += heldBytes;
    }
    this.#spareBytes -= bytes - this.#turnBytes;
    this.#turnBytes = bytes;
  }

  holdOutcome(outcome: HostedOutcome): void {
    this.#hold(measureOutcome(outcome), 'owner');
  }

  /** @param events the client's events for an outcome, whose content is part of the whole answer */
  holdEvents(events: string): void {
    this.#hold(events.length, 'process');
  }
}

function measureOutcome(outcome: HostedOutcome): number {
  switch (outcome.kind) {
    case 'found':
      return outcome.results.reduce((sum, { title, url, text }) => sum + title.length + url.length + text.length, 0);
    case 'fetched':
    case 'output':
      return outcome.text.length;
    case 'failed':
      return outcome.message.length;
  }
}
