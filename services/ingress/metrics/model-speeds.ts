import { LRUCache } from 'lru-cache';

/** Part of the average that each new answer makes up. */
const newPart = 0.2;

/** Models that are remembered at most. */
const mostModels = 1_000;

/** How fast each model has written its last answers, as this ingress has seen them stream, in output tokens per second. */
export class ModelSpeeds {
  readonly #speeds = new LRUCache<string, number>({ max: mostModels });

  add(model: string, tokensPerSecond: number): void {
    const known = this.#speeds.get(model);
    this.#speeds.set(model, known === undefined ? tokensPerSecond : known + newPart * (tokensPerSecond - known));
  }

  /** Undefined for a model that has streamed no answer here. */
  of(model: string): number | undefined {
    return this.#speeds.get(model);
  }
}
