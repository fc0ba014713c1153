/** Models that are remembered at most; the oldest go first. */
const mostModels = 1_000;

/** Milliseconds after which a path is tried again: a provider may have got it. */
const rememberedForMs = 3_600_000;

/** Remembers of which models a provider has answered that it does not have the path of a format. */
export class LackingPaths {
  readonly #until = new Map<string, number>();

  /** Notes that a model is not served at the path of a format. */
  note(model: string, format: string): void {
    const name = nameOf(model, format);
    this.#until.delete(name);
    this.#until.set(name, Date.now() + rememberedForMs);
    const [oldest] = this.#until.keys();
    if (this.#until.size > mostModels && oldest !== undefined) this.#until.delete(oldest);
  }

  has(model: string, format: string): boolean {
    return (this.#until.get(nameOf(model, format)) ?? 0) > Date.now();
  }
}

function nameOf(model: string, format: string): string {
  return `${format} ${model}`;
}
