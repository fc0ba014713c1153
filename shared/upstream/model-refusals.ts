/** Refusals that are remembered at most; the oldest go first. */
const mostRefusals = 1_000;

/** Milliseconds after which a refusal is forgotten: an upstream may take by then what it has refused. */
const rememberedForMs = 3_600_000;

/** Remembers what an upstream does not take for which of its models: the path of a format, a level of thinking. */
export class ModelRefusals {
  readonly #known = new Map<string, { until: number; instead: string }>();

  /**
   * Notes that an upstream has refused something for a model.
   * @param instead what it takes in its place
   */
  note(model: string, what: string, instead = ''): void {
    const name = nameOf(model, what);
    this.#known.delete(name);
    this.#known.set(name, { until: Date.now() + rememberedForMs, instead });
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostRefusals && oldest !== undefined) this.#known.delete(oldest);
  }

  has(model: string, what: string): boolean {
    return this.instead(model, what) !== undefined;
  }

  /** What an upstream takes in place of what it has refused; undefined if it has not. */
  instead(model: string, what: string): string | undefined {
    const known = this.#known.get(nameOf(model, what));
    return known && known.until > Date.now() ? known.instead : undefined;
  }
}

function nameOf(model: string, what: string): string {
  return `${what} ${model}`;
}
