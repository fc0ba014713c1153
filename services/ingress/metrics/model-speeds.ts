import { LRUCache } from 'lru-cache';

/** Weight of a new answer in the moving average. */
const newPart = 0.2;

const mostModels = 1_000;

/** Moving average of each model's output tokens per second, over the streams of this ingress. */
export class ModelSpeeds {
  readonly #speeds = new LRUCache<string, number>({ max: mostModels });

  add(model: string, tokensPerSecond: number): void {
    const known = this.#speeds.get(model);
    this.#speeds.set(model, known === undefined ? tokensPerSecond : known + newPart * (tokensPerSecond - known));
  }

  /** Returns the average; undefined for a model that has streamed no answer here. */
  of(model: string): number | undefined {
    return this.#speeds.get(model);
  }
}
