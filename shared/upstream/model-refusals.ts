import { LRUCache } from 'lru-cache';

const maxRefusals = 1_000;

/** Milliseconds for which a refusal is remembered. Afterwards, the upstream may accept the feature. */
const rememberedForMs = 3_600_000;

/** Remembers the features that an upstream refuses for one of its models, for example the path of a format or a level of thinking. */
export class ModelRefusals {
  /** Replacements by model and refused feature. */
  readonly #replacements = new LRUCache<string, string>({ max: maxRefusals, ttl: rememberedForMs });

  /**
   * Records that an upstream has refused a feature for a model.
   * @param replacement the value that the upstream accepts in place of the feature; empty if there is none
   */
  record(model: string, feature: string, replacement = ''): void {
    this.#replacements.set(toKey(model, feature), replacement);
  }

  isRefused(model: string, feature: string): boolean {
    return this.findReplacement(model, feature) !== undefined;
  }

  /** Returns the replacement of a refused feature; empty if the feature has no replacement, undefined if it was not refused. */
  findReplacement(model: string, feature: string): string | undefined {
    return this.#replacements.get(toKey(model, feature));
  }
}

function toKey(model: string, feature: string): string {
  return `${feature} ${model}`;
}
