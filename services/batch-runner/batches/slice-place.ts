import type { LinePlace } from '../lines/line-place.ts';
import type { HeldBatches } from '../slots/held-batches.ts';
import type { UpstreamLimit } from '../slots/upstream-limit.ts';

export interface SlicePlaceParts {
  held: Pick<HeldBatches, 'patienceMs' | 'ran' | 'leave'>;
  batch: string;
  slice: number;
  /** Called from time to time while all its lines wait, and one of them for a limit of its upstream. */
  onLimited: (limit: UpstreamLimit) => Promise<void>;
  /** Whether others wait for a place, or for memory. */
  isWanted: () => Promise<boolean>;
  /** Called when the slice leaves: no further line is to begin. */
  onLeave: () => void;
}

/** A line that has not ended. */
interface OpenLine {
  isWaiting: boolean;
  /** Where it could be served, if it waits for that. */
  place: (() => LinePlace) | undefined;
}

/** The place that a slice has in this runner. It leaves when all its lines wait for a while, and others wait for a place or memory. */
export class SlicePlace {
  readonly #parts: SlicePlaceParts;
  readonly #lines = new Set<OpenLine>();
  #timer: NodeJS.Timeout | undefined;
  #leaveMs: number | undefined;

  constructor(parts: SlicePlaceParts) {
    this.#parts = parts;
  }

  /** Milliseconds after which the slice is to be begun anew; undefined if it has not left its place. */
  get leaveMs(): number | undefined {
    return this.#leaveMs;
  }

  /** A line begins. */
  begin() {
    const line: OpenLine = { isWaiting: false, place: undefined };
    this.#lines.add(line);
    this.#judge();
    return {
      /** The line waits. @param place where it could be served; undefined if it waits for something else */
      wait: (place?: () => LinePlace): void => {
        line.isWaiting = true;
        line.place = place;
        this.#judge();
      },
      /** It does not wait any more. */
      goOn: (): void => {
        line.isWaiting = false;
        this.#judge();
      },
      /** A worker has it. */
      ran: (): void => {
        const { held, batch, slice } = this.#parts;
        held.ran(batch, slice);
      },
      end: (): void => {
        this.#lines.delete(line);
        this.#judge();
      },
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#lines.clear();
  }

  get #isIdle(): boolean {
    for (const { isWaiting } of this.#lines) if (!isWaiting) return false;
    return this.#lines.size > 0;
  }

  #judge(): void {
    if (!this.#isIdle) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    } else this.#timer ??= this.#waitOn();
  }

  #waitOn(): NodeJS.Timeout {
    const { held, batch, slice } = this.#parts;
    return setTimeout(() => void this.#leaveIfWanted(), held.patienceMs(batch, slice));
  }

  /** The limit of an upstream that a line waits for, the first that ends. */
  #limit(): UpstreamLimit | undefined {
    const limits = [...this.#lines].flatMap(({ place }) => limitOf(place) ?? []);
    return limits.toSorted((a, b) => a.until - b.until)[0];
  }

  async #leaveIfWanted(): Promise<void> {
    const { held, batch, slice, isWanted, onLimited, onLeave } = this.#parts;
    const timer = this.#timer;
    const limit = this.#limit();
    if (limit) await onLimited(limit).catch(() => undefined);
    const wanted = await isWanted().catch(() => false);
    // It has gone on meanwhile, or has ended.
    if (this.#timer !== timer || !this.#isIdle) return;
    if (!wanted) {
      this.#timer = this.#waitOn();
      return;
    }
    const waiting = [...this.#lines].find(({ place }) => place);
    this.#leaveMs = held.leave(batch, slice, waiting?.place);
    onLeave();
  }
}

function limitOf(place: OpenLine['place']): UpstreamLimit | undefined {
  try {
    return place?.().limit;
  } catch {
    // The line ends with this error.
    return undefined;
  }
}
