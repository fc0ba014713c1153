import type { Engine } from './find-engines.ts';
import type { SupervisedChild } from '../children/supervised-child.ts';

/** How the workers of a cluster are started and what they are started for. */
export interface EngineWorkersOptions {
  /** Engines that the user named; each has a worker whether it answers or not. */
  named: readonly Engine[];
  findLocal: () => Promise<Engine[]>;
  startWorker: (engine: Engine) => Promise<SupervisedChild>;
  /** Starts the demo engine; its `url` is where its worker finds it. Undefined where others serve when no engine does. */
  startDemo: (() => Promise<{ engine: Engine; child: SupervisedChild }>) | undefined;
  /** How many gpu workers serve right now, as the router sees it. */
  countServing: () => Promise<number | undefined>;
  say: (sentence: string) => void;
}

/** A real engine whose worker does not serve after so long is not waited for more closely than any other. */
const expectedWithinMs = 30_000;
const workerPatienceMs = 8_000;
const demoPatienceMs = 2_000;

/**
 * One gpu worker for each engine, and the demo engine with a worker while nobody else serves. An engine that appears
 * later gets its worker when it is looked for next; once that serves, the demo engine goes. The worker of an engine that
 * disappears stays: it waits for the engine's return.
 */
export class EngineWorkers {
  readonly #options: EngineWorkersOptions;
  readonly #workers = new Map<string, SupervisedChild>();
  #startedAt = -Infinity;
  #demo: { child: SupervisedChild; worker: SupervisedChild } | undefined;

  constructor(options: EngineWorkersOptions) {
    this.#options = options;
  }

  /** Whether the demo engine answers in place of a real one. */
  get onDemo(): boolean {
    return this.#demo !== undefined;
  }

  /** Whether a real engine is about to take over from the demo engine: then it is worth looking again soon. */
  get handingOver(): boolean {
    return this.onDemo && performance.now() - this.#startedAt < expectedWithinMs;
  }

  /** Starts the first workers. Returns the engines that they are for, none with the demo engine. */
  async begin(local: readonly Engine[]): Promise<Engine[]> {
    const started = await this.#startMissing([...this.#options.named, ...local]);
    const { startDemo } = this.#options;
    if (started.length === 0 && startDemo) {
      const { engine, child } = await startDemo();
      this.#demo = { child, worker: await this.#options.startWorker(engine) };
    }
    return started;
  }

  /** Looks for engines that have appeared, starts their workers, and lets the demo engine go when it is not needed. */
  async lookAgain(): Promise<void> {
    const started = await this.#startMissing([...this.#options.named, ...(await this.#options.findLocal())]);
    for (const { origin, url } of started)
      this.#options.say(`found an engine at ${url} (${origin}): it is served from now on`);
    if (!this.#demo || this.#workers.size === 0) return;
    // The demo's own worker is one of those that serve.
    if (((await this.#options.countServing()) ?? 0) < 2) return;
    const { child, worker } = this.#demo;
    this.#demo = undefined;
    await worker.stop(workerPatienceMs);
    await child.stop(demoPatienceMs);
    this.#options.say('the demo engine is stopped: a real one has taken over');
  }

  /** Stops all workers, then the demo engine. */
  async stop(): Promise<void> {
    const workers = [...this.#workers.values(), ...(this.#demo ? [this.#demo.worker] : [])];
    await Promise.all(workers.map((worker) => worker.stop(workerPatienceMs)));
    await this.#demo?.child.stop(demoPatienceMs);
  }

  async #startMissing(engines: readonly Engine[]): Promise<Engine[]> {
    const started: Engine[] = [];
    for (const engine of engines) {
      const key = engine.url.replace('//localhost', '//127.0.0.1');
      if (this.#workers.get(key)?.active) continue;
      this.#workers.set(key, await this.#options.startWorker(engine));
      started.push(engine);
      this.#startedAt = performance.now();
    }
    return started;
  }
}
