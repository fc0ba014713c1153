import { setTimeout as sleep } from 'node:timers/promises';
import { formatJoined, formatServing, type ServingWorker } from './box-report.ts';

export interface ServingReportOptions {
  /** Name of the box. */
  name: string;
  /** Whether a worker serves, by the worker's name. */
  isServing: (worker: string) => Promise<boolean>;
  /** Returns the models of a worker; undefined if they are not known. */
  listModels: (worker: ServingWorker) => Promise<readonly string[] | undefined>;
  say: (text: string) => void;
}

/** Milliseconds for which the first report waits until all workers serve. */
const firstReportMs = 15_000;
const firstPollMs = 250;

/** Tells a person when the workers of a box serve, each once. */
export class ServingReport {
  readonly #options: ServingReportOptions;
  readonly #waiting = new Map<string, ServingWorker>();

  constructor(options: ServingReportOptions) {
    this.#options = options;
  }

  /** Whether a worker has been added that does not serve yet. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Adds a worker that is being started. */
  add(worker: string, facts: ServingWorker): void {
    this.#waiting.set(worker, facts);
  }

  /** Reports in one line that the box has joined, as soon as all its workers serve, or after 15 seconds. */
  async reportJoined(stop: AbortSignal): Promise<void> {
    const serving: ServingWorker[] = [];
    const deadline = performance.now() + firstReportMs;
    for (;;) {
      serving.push(...(await this.#takeServing()));
      if (!this.isWaiting || performance.now() > deadline) break;
      await sleep(firstPollMs, undefined, { signal: stop }).catch(() => stop.throwIfAborted());
    }
    this.#options.say(formatJoined(this.#options.name, serving));
    for (const { name } of this.#waiting.values())
      this.#options.say(`${name} is not served yet: it does not answer, or the lines above tell why.`);
  }

  /** Reports the workers that serve since the last report. */
  async reportLater(): Promise<void> {
    for (const worker of await this.#takeServing()) this.#options.say(formatServing(worker));
  }

  async #takeServing(): Promise<ServingWorker[]> {
    const serving = await Promise.all(
      [...this.#waiting].map(async ([worker, facts]) => {
        if (!(await this.#options.isServing(worker))) return [];
        this.#waiting.delete(worker);
        return [{ ...facts, models: await this.#options.listModels(facts) }];
      }),
    );
    return serving.flat();
  }
}
