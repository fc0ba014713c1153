import type { PlannedWorker } from './plan-workers.ts';
import type { SupervisedChild } from '../children/supervised-child.ts';

const patienceMs = 8_000;

/** The workers of a plan, running. */
export class PlannedWorkers {
  readonly #start: (worker: PlannedWorker) => Promise<SupervisedChild>;
  readonly #children: SupervisedChild[] = [];

  constructor(start: (worker: PlannedWorker) => Promise<SupervisedChild>) {
    this.#start = start;
  }

  async begin(workers: readonly PlannedWorker[]): Promise<void> {
    for (const worker of workers) this.#children.push(await this.#start(worker));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.stop(patienceMs)));
  }
}
