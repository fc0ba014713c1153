import { Counter, type CounterConfiguration, type LabelValues } from 'prom-client';

/** The counter of one set of labels. `add` costs one addition. */
export interface BoundCount {
  add(amount?: number): void;
}

interface Cell<Label extends string> {
  labels: LabelValues<Label>;
  pending: number;
}

/**
 * A Prometheus counter for hot paths. Each set of labels is bound once, because the library checks and hashes the labels at every
 * increment. The sums go to the library when the metrics are scraped.
 */
export class BoundCounter<Label extends string = string> {
  readonly #cells: Cell<Label>[] = [];
  readonly #counter: Counter<Label>;

  constructor(configuration: Omit<CounterConfiguration<Label>, 'collect'>) {
    this.#counter = new Counter({ ...configuration, collect: () => this.#flush() });
  }

  /** Creates the counter of these labels, which appears in the metrics from now on, at first with 0. */
  bind(labels: LabelValues<Label>): BoundCount {
    const cell = { labels, pending: 0 };
    this.#cells.push(cell);
    return {
      add(amount = 1) {
        cell.pending += amount;
      },
    };
  }

  #flush(): void {
    for (const cell of this.#cells) {
      this.#counter.inc(cell.labels, cell.pending);
      cell.pending = 0;
    }
  }
}

/** Returns the series under a key, and binds it on first use. Callers must limit the number of keys. */
export function getOrBind<Series>(series: Map<string, Series>, key: string, bind: () => Series): Series {
  let bound = series.get(key);
  if (!bound) {
    bound = bind();
    series.set(key, bound);
  }
  return bound;
}
