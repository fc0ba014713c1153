import type { LinePlace } from '../lines/line-place.ts';
import type { ParkedBatches } from '../slots/parked-batches.ts';
import type { RunningLines } from './running-lines.ts';

/**
 * Milliseconds after which the mark `waiting for a worker` of a batch ends unless it is renewed. A batch is parked for less time than this.
 */
const missingWorkerMs = 90_000;

/** The reason why all lines of a slice wait. */
export interface SlicePause {
  /**
   * In ms since 1970: when the lines are tried again or, if they lack a worker, when the mark `waiting for a worker` ends unless it is
   * renewed.
   */
  until: number;
  /** Text for the owner of the batch. */
  reason: string;
  lacksWorker: boolean;
}

export interface SliceSlotParts {
  parked: Pick<ParkedBatches, 'getSlotHoldMs' | 'noteRunning' | 'park'>;
  runningLines: RunningLines;
  batch: string;
  slice: number;
  /** Called at intervals while no line of the batch runs here, and a line of the slice waits for its upstream's limit or for a worker. */
  onPaused: (pause: SlicePause) => Promise<void>;
  /** Returns whether other slices wait for a slice slot or for memory. */
  isWanted: () => Promise<boolean>;
  /** Called when the slice leaves its slot. From then on, no further line may begin. */
  onLeave: () => void;
}

interface OpenLine {
  isWaiting: boolean;
  /** Ends the count of the line in `RunningLines`; undefined if no worker has the line. */
  endCount: (() => void) | undefined;
  /** Returns where the line could be served; undefined if it does not wait for a worker or an upstream. */
  place: (() => LinePlace) | undefined;
}

/**
 * The slice slot that a slice occupies in this runner. The slice leaves the slot when all its lines have waited for a while and other
 * slices wait for a slot or for memory.
 */
export class SliceSlot {
  readonly #parts: SliceSlotParts;
  readonly #lines = new Set<OpenLine>();
  #timer: NodeJS.Timeout | undefined;
  #leaveMs: number | undefined;

  constructor(parts: SliceSlotParts) {
    this.#parts = parts;
  }

  /** Milliseconds after which the slice is to be processed again; undefined while the slice has its slot. */
  get leaveMs(): number | undefined {
    return this.#leaveMs;
  }

  /**
   * Adds a line.
   * @returns the functions to call when the line changes
   */
  addLine() {
    const line: OpenLine = { isWaiting: false, endCount: undefined, place: undefined };
    this.#lines.add(line);
    this.#updateTimer();
    return {
      /**
       * Call it when the line begins to wait.
       * @param place returns where the line could be served; undefined if the line waits for something other than a worker or an upstream
       */
      wait: (place?: () => LinePlace): void => {
        stopCounting(line);
        line.isWaiting = true;
        line.place = place;
        this.#updateTimer();
      },
      /** Call it when the line no longer waits. */
      goOn: (): void => {
        line.isWaiting = false;
        this.#updateTimer();
      },
      /** Call it when a worker begins to serve the line. */
      ran: (): void => {
        const { parked, runningLines, batch, slice } = this.#parts;
        line.endCount ??= runningLines.begin(batch);
        parked.noteRunning(batch, slice);
      },
      end: (): void => {
        stopCounting(line);
        this.#lines.delete(line);
        this.#updateTimer();
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

  #updateTimer(): void {
    if (!this.#isIdle) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    } else this.#timer ??= this.#startTimer();
  }

  #startTimer(): NodeJS.Timeout {
    const { parked, batch, slice } = this.#parts;
    return setTimeout(() => void this.#leaveIfWanted(), parked.getSlotHoldMs(batch, slice));
  }

  /**
   * Returns why the lines wait: the upstream limit that ends first or, if none waits for a limit, the missing worker. Undefined if no line
   * waits for either.
   */
  #findPause(): SlicePause | undefined {
    const places = [...this.#lines].flatMap((line) => findPlace(line) ?? []);
    const [first] = places.flatMap(({ limit }) => limit ?? []).toSorted((a, b) => a.until - b.until);
    if (first) return { ...first, lacksWorker: false };
    const [explainLack] = places.flatMap((place) => place.explainLack ?? []);
    return explainLack && { until: Date.now() + missingWorkerMs, reason: explainLack(), lacksWorker: true };
  }

  async #leaveIfWanted(): Promise<void> {
    const { parked, runningLines, batch, slice, isWanted, onPaused, onLeave } = this.#parts;
    const timer = this.#timer;
    const pause = runningLines.has(batch) ? undefined : this.#findPause();
    if (pause) await onPaused(pause).catch(() => undefined);
    const wanted = await isWanted().catch(() => false);
    // The slice has continued or ended while the checks above ran.
    if (this.#timer !== timer || !this.#isIdle) return;
    if (!wanted) {
      this.#timer = this.#startTimer();
      return;
    }
    const waiting = [...this.#lines].find(({ place }) => place);
    this.#leaveMs = parked.park(batch, slice, waiting?.place);
    onLeave();
  }
}

function stopCounting(line: OpenLine): void {
  line.endCount?.();
  line.endCount = undefined;
}

function findPlace({ place }: OpenLine): LinePlace | undefined {
  try {
    return place?.();
  } catch {
    // The line itself will end with this error.
    return undefined;
  }
}
