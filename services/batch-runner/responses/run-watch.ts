import { isOver } from '#shared/accounts/responses/background/background-record.ts';
import type { AnswerChanges } from '#shared/store/answer-journal/answer-changes.ts';
import type { ResponseWork } from '#shared/accounts/responses/background/response-work.ts';

/** Milliseconds between two reads of a response's record, in case the notice of a change is lost. */
const checkIntervalMs = 5_000;

export interface RunWatchParts {
  id: string;
  /** Id of the run. */
  run: string;
  responses: Pick<ResponseWork, 'find'>;
  changes: Pick<AnswerChanges, 'watch'>;
  /** Aborts when the runner stops. */
  stopping: AbortSignal;
}

/** Watches a response during one run, and stops the run if the response is cancelled or removed, or another run has begun. */
export class RunWatch {
  readonly #parts: RunWatchParts;
  readonly #stopped = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #unwatch: () => void;
  /** Aborts when the run must stop. */
  readonly signal: AbortSignal;

  constructor(parts: RunWatchParts) {
    this.#parts = parts;
    this.signal = AbortSignal.any([this.#stopped.signal, parts.stopping]);
    this.#timer = setInterval(() => void this.#check(), checkIntervalMs);
    this.#unwatch = parts.changes.watch(parts.id, (change) => {
      if (change === 'over') void this.#check();
    });
  }

  /** Whether the response is over or removed, another run has begun, or `stop` was called. An abort of `stopping` alone does not count. */
  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  stop(): void {
    this.#stopped.abort();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#unwatch();
  }

  async #check(): Promise<void> {
    const { responses, id, run } = this.#parts;
    // If Redis does not answer, the run continues.
    const found = await responses.find(id).catch(() => 'unknown' as const);
    if (found !== 'unknown' && (!found || isOver(found) || found.attempt !== run)) this.stop();
  }
}
