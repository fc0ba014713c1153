import { LRUCache } from 'lru-cache';

const maxRefusals = 1_000;

/** Milliseconds for which a refusal is remembered. Later, the upstream may accept what it refused. */
const rememberedForMs = 3_600_000;

/** Remembers the features that an upstream refuses for one of its models, for example the path of a format or a level of thinking. */
export class ModelRefusals {
  /** Replacements by model and refused feature. */
  readonly #known = new LRUCache<string, string>({ max: maxRefusals, ttl: rememberedForMs });

  /**
   * Records that an upstream has refused a feature for a model.
   * @param instead the replacement that it accepts
   */
  note(model: string, what: string, instead = ''): void {
    this.#known.set(nameOf(model, what), instead);
  }

  has(model: string, what: string): boolean {
    return this.instead(model, what) !== undefined;
  }

  /** Returns the replacement of a refused feature; undefined if it was not refused. */
  instead(model: string, what: string): string | undefined {
    return this.#known.get(nameOf(model, what));
  }
}

function nameOf(model: string, what: string): string {
  return `${what} ${model}`;
}
