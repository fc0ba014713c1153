import { setTimeout as pause } from 'node:timers/promises';
import type { WrittenEvents } from '#shared/accounts/background-responses/response-work.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';

/** Milliseconds between a failed write and the next one. */
const retryMs = 500;

/** Milliseconds between two writes, because a fast answer has hundreds of events a second, and there may be hundreds of answers. */
const writeIntervalMs = 50;

/** Largest number of characters of events per write, unless a single event is longer. */
const maxAtOnce = 64 * 1024;

export interface EventWriterParts {
  /** Number of the first event. */
  next: number;
  /** Returns the number of the last event in a text; undefined if no event has a number. */
  lastNumber: (events: string) => number | undefined;
  /**
   * Writes events.
   * @returns false if nothing can be written any more
   * @throws any error if the result of the write is unknown
   */
  append: (written: WrittenEvents) => Promise<boolean>;
  /** Budget for the characters of waiting events, shared by all answers. */
  budget: MemoryBudget;
  /** Called once when nothing can be written any more, or when waiting events exceed the budget. */
  onRefused: () => void;
}

/**
 * Writes the events of one answer in order. Events that arrive during a write go into the next one. While the store is unreachable, events
 * wait.
 */
export class EventWriter {
  readonly #parts: EventWriterParts;
  #waiting = '';
  #writing: Promise<void> | undefined;
  #isClosed = false;
  #isRefused = false;
  #next: number;
  #unwritten: number;

  constructor(parts: EventWriterParts) {
    this.#parts = parts;
    this.#next = parts.next;
    this.#unwritten = parts.next;
  }

  /** Number of the next event, after the last event that was passed to `write`. */
  get next(): number {
    return this.#next;
  }

  /** Number of the first event that is not confirmed as written. */
  get unwritten(): number {
    return this.#unwritten;
  }

  /** Adds whole events. Does nothing after `close`, or once nothing can be written any more. */
  write(events: string): void {
    if (this.#isClosed) return;
    if (!this.#parts.budget.take(events.length)) return this.#stop();
    this.#waiting += events;
    this.#next = (this.#parts.lastNumber(events) ?? this.#next - 1) + 1;
    this.#writing ??= this.#writeAll();
  }

  /**
   * Stops writing after the write in progress.
   * @returns the events that were not written
   */
  async close(): Promise<string> {
    this.#isClosed = true;
    await this.#writing;
    this.#parts.budget.release(this.#waiting.length);
    return this.#waiting;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting !== '' && !this.#isClosed) {
      const events = findLeadingEvents(this.#waiting);
      const last = this.#parts.lastNumber(events) ?? this.#next - 1;
      if (await this.#append(events, last)) {
        this.#waiting = this.#waiting.slice(events.length);
        this.#parts.budget.release(events.length);
      }
      if (this.#waiting.length <= maxAtOnce && !this.#isClosed) await pause(writeIntervalMs);
    }
    this.#writing = undefined;
  }

  /** @returns true if the events are written, or can never be written; false if the write must be repeated */
  async #append(events: string, last: number): Promise<boolean> {
    try {
      if (await this.#parts.append({ events, from: this.#unwritten, last })) this.#unwritten = last + 1;
      else this.#stop();
      return true;
    } catch {
      // The next write repeats these events. If they were written after all, readers skip the repetition.
      await pause(retryMs);
      return false;
    }
  }

  #stop(): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#isClosed = true;
    this.#parts.onRefused();
  }
}

/** Returns the leading events that fit into one write. */
function findLeadingEvents(events: string): string {
  if (events.length <= maxAtOnce) return events;
  const fitting = events.lastIndexOf('\n\n', maxAtOnce);
  const end = fitting === -1 ? events.indexOf('\n\n', maxAtOnce) : fitting;
  return end === -1 ? events : events.slice(0, end + 2);
}
