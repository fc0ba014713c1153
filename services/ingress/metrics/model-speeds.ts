import { LRUCache } from 'lru-cache';

/** Weight of a new answer in the moving average. */
const newWeight = 0.2;

const maxModels = 1_000;

/** Moving average of each model's output tokens per second, over the streams of this ingress. */
export class ModelSpeeds {
  readonly #speeds = new LRUCache<string, number>({ max: maxModels });

  add(model: string, tokensPerSecond: number): void {
    const average = this.#speeds.get(model);
    this.#speeds.set(
      model,
      average === undefined ? tokensPerSecond : average + newWeight * (tokensPerSecond - average),
    );
  }

  /** Returns the average; undefined if this ingress has streamed no answer of the model. */
  find(model: string): number | undefined {
    return this.#speeds.get(model);
  }
}
