import type { LinePlace } from '../lines/line-place.ts';
import type { ParkedBatches } from '../slots/parked-batches.ts';
import type { RunningLines } from './running-lines.ts';

/** Milliseconds for which a batch is shown as one that lacks a worker, unless that is said again. It is parked for less. */
const lackMs = 90_000;

/** What all lines of a slice wait for. */
export interface SlicePause {
  /** When they are tried again, in ms since 1970; if they lack a worker, for how long that holds unless it is said again. */
  until: number;
  /** As its user reads it. */
  reason: string;
  lacksWorker: boolean;
}

export interface SliceSeatParts {
  parked: Pick<ParkedBatches, 'patienceMs' | 'ran' | 'park'>;
  running: RunningLines;
  batch: string;
  slice: number;
  /** Called from time to time while no line of the batch runs here, and one of the slice waits for a limit of its upstream or a worker. */
  onPaused: (pause: SlicePause) => Promise<void>;
  /** Whether others wait for a seat, or for memory. */
  isWanted: () => Promise<boolean>;
  /** Called when the slice leaves: no further line is to begin. */
  onLeave: () => void;
}

/** A line that has not ended. */
interface OpenLine {
  isWaiting: boolean;
  /** Notes that no worker has it any more; undefined if none has it. */
  onStop: (() => void) | undefined;
  /** Where it could be served, if it waits for that. */
  place: (() => LinePlace) | undefined;
}

/** The seat that a slice has in this runner. It leaves when all its lines wait for a while, and others wait for a seat or memory. */
export class SliceSeat {
  readonly #parts: SliceSeatParts;
  readonly #lines = new Set<OpenLine>();
  #timer: NodeJS.Timeout | undefined;
  #leaveMs: number | undefined;

  constructor(parts: SliceSeatParts) {
    this.#parts = parts;
  }

  /** Milliseconds after which the slice is to be begun anew; undefined if it has not left its seat. */
  get leaveMs(): number | undefined {
    return this.#leaveMs;
  }

  /** A line begins. */
  begin() {
    const line: OpenLine = { isWaiting: false, onStop: undefined, place: undefined };
    this.#lines.add(line);
    this.#judge();
    return {
      /** The line waits. @param place where it could be served; undefined if it waits for something else */
      wait: (place?: () => LinePlace): void => {
        stop(line);
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
        const { parked, running, batch, slice } = this.#parts;
        line.onStop ??= running.begin(batch);
        parked.ran(batch, slice);
      },
      end: (): void => {
        stop(line);
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
    const { parked, batch, slice } = this.#parts;
    return setTimeout(() => void this.#leaveIfWanted(), parked.patienceMs(batch, slice));
  }

  /** The limit of an upstream that a line waits for, the first that ends; or that it lacks a worker. */
  #pause(): SlicePause | undefined {
    const places = [...this.#lines].flatMap((line) => placeOf(line) ?? []);
    const [first] = places.flatMap(({ limit }) => limit ?? []).toSorted((a, b) => a.until - b.until);
    if (first) return { ...first, lacksWorker: false };
    const [lacks] = places.flatMap((place) => place.lacks ?? []);
    return lacks && { until: Date.now() + lackMs, reason: lacks(), lacksWorker: true };
  }

  async #leaveIfWanted(): Promise<void> {
    const { parked, running, batch, slice, isWanted, onPaused, onLeave } = this.#parts;
    const timer = this.#timer;
    const pause = running.has(batch) ? undefined : this.#pause();
    if (pause) await onPaused(pause).catch(() => undefined);
    const wanted = await isWanted().catch(() => false);
    // It has gone on meanwhile, or has ended.
    if (this.#timer !== timer || !this.#isIdle) return;
    if (!wanted) {
      this.#timer = this.#waitOn();
      return;
    }
    const waiting = [...this.#lines].find(({ place }) => place);
    this.#leaveMs = parked.park(batch, slice, waiting?.place);
    onLeave();
  }
}

function stop(line: OpenLine): void {
  line.onStop?.();
  line.onStop = undefined;
}

function placeOf({ place }: OpenLine): LinePlace | undefined {
  try {
    return place?.();
  } catch {
    // The line ends with this error.
    return undefined;
  }
}
