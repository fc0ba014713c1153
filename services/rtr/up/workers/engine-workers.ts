import type { Engine } from './find-engines.ts';
import type { SupervisedChild } from '../children/supervised-child.ts';

export interface EngineWorkersOptions {
  /** Engines that the user named. Each gets a worker, whether the engine answers or not. */
  namedEngines: readonly Engine[];
  findLocal: () => Promise<Engine[]>;
  startWorker: (engine: Engine) => Promise<SupervisedChild>;
  /** Starts the demo engine, and returns its address. Undefined if other tiers serve models without an engine. */
  startDemo: (() => Promise<{ engine: Engine; child: SupervisedChild }>) | undefined;
  /** Returns the number of live gpu workers that the router counts. */
  countServing: () => Promise<number | undefined>;
  say: (sentence: string) => void;
}

/** Milliseconds after the start of a worker in which its engine is expected to replace the demo engine. */
const handoverMs = 30_000;
const workerStopTimeoutMs = 8_000;
const demoStopTimeoutMs = 2_000;

/**
 * Runs one gpu worker for each engine, and the demo engine with a worker while there is no other engine. An engine that appears later gets
 * a worker at the next poll. When that worker serves, the demo engine is stopped. The worker of an engine that disappears keeps running and
 * waits for the engine to return.
 */
export class EngineWorkers {
  readonly #options: EngineWorkersOptions;
  readonly #workers = new Map<string, SupervisedChild>();
  #lastStartAt = -Infinity;
  #demo: { child: SupervisedChild; worker: SupervisedChild } | undefined;

  constructor(options: EngineWorkersOptions) {
    this.#options = options;
  }

  /** Whether the demo engine and its worker run. */
  get usesDemoEngine(): boolean {
    return this.#demo !== undefined;
  }

  /** Whether a real engine is about to replace the demo engine, so that the next poll should be soon. */
  get isHandingOver(): boolean {
    return this.usesDemoEngine && performance.now() - this.#lastStartAt < handoverMs;
  }

  /** Starts a worker for each named or local engine and returns these engines. If there are none, starts the demo engine instead. */
  async start(local: readonly Engine[]): Promise<Engine[]> {
    const started = await this.#startMissing([...this.#options.namedEngines, ...local]);
    const { startDemo } = this.#options;
    if (started.length === 0 && startDemo) {
      const { engine, child } = await startDemo();
      this.#demo = { child, worker: await this.#options.startWorker(engine) };
    }
    return started;
  }

  /** Finds engines that have appeared, starts their workers, and stops the demo engine when it is no longer needed. */
  async poll(): Promise<void> {
    const started = await this.#startMissing([...this.#options.namedEngines, ...(await this.#options.findLocal())]);
    for (const { origin, url } of started)
      this.#options.say(`found an engine at ${url} (${origin}): a worker serves it now`);
    if (!this.#demo || this.#workers.size === 0) return;
    // The count includes the demo engine's worker.
    if (((await this.#options.countServing()) ?? 0) < 2) return;
    const { child, worker } = this.#demo;
    this.#demo = undefined;
    await worker.stop(workerStopTimeoutMs);
    await child.stop(demoStopTimeoutMs);
    this.#options.say('the demo engine is stopped: a real one has taken over');
  }

  async stop(): Promise<void> {
    const workers = [...this.#workers.values(), ...(this.#demo ? [this.#demo.worker] : [])];
    await Promise.all(workers.map((worker) => worker.stop(workerStopTimeoutMs)));
    await this.#demo?.child.stop(demoStopTimeoutMs);
  }

  async #startMissing(engines: readonly Engine[]): Promise<Engine[]> {
    const started: Engine[] = [];
    for (const engine of engines) {
      const key = engine.url.replace('//localhost', '//127.0.0.1');
      if (this.#workers.get(key)?.isActive) continue;
      this.#workers.set(key, await this.#options.startWorker(engine));
      started.push(engine);
      this.#lastStartAt = performance.now();
    }
    return started;
  }
}
