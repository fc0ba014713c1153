import { LRUCache } from 'lru-cache';

/** Refusals that are remembered at most. */
const maxRefusals = 1_000;

/** Milliseconds after which a refusal is forgotten: an upstream may take by then what it has refused. */
const rememberedForMs = 3_600_000;

/** Remembers what an upstream does not take for which of its models: the path of a format, a level of thinking. */
export class ModelRefusals {
  /** What it takes instead, by model and what it refuses. */
  readonly #known = new LRUCache<string, string>({ max: maxRefusals, ttl: rememberedForMs });

  /**
   * Notes that an upstream has refused something for a model.
   * @param instead what it takes in its place
   */
  note(model: string, what: string, instead = ''): void {
    this.#known.set(nameOf(model, what), instead);
  }

  has(model: string, what: string): boolean {
    return this.instead(model, what) !== undefined;
  }

  /** What an upstream takes in place of what it has refused; undefined if it has not. */
  instead(model: string, what: string): string | undefined {
    return this.#known.get(nameOf(model, what));
  }
}

function nameOf(model: string, what: string): string {
  return `${what} ${model}`;
}
