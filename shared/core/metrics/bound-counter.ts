import { Counter, type CounterConfiguration, type LabelValues } from 'prom-client';

/** A counter of one set of labels. To add costs one addition, whatever the labels. */
export interface BoundCount {
  add(amount?: number): void;
}

interface Cell<Label extends string> {
  labels: LabelValues<Label>;
  pending: number;
}

/**
 * A Prometheus counter for a request's path. Each set of labels is bound once, beforehand: the library would check and
 * hash the labels at each increment. What was added is handed to the library when it is asked for.
 */
export class BoundCounter<Label extends string = string> {
  readonly #cells: Cell<Label>[] = [];
  readonly #counter: Counter<Label>;

  constructor(configuration: Omit<CounterConfiguration<Label>, 'collect'>) {
    this.#counter = new Counter({ ...configuration, collect: () => this.#handOver() });
  }

  /** The counter of these labels, which from now on is shown, with 0 until something is added. */
  bind(labels: LabelValues<Label>): BoundCount {
    const cell = { labels, pending: 0 };
    this.#cells.push(cell);
    return {
      add(amount = 1) {
        cell.pending += amount;
      },
    };
  }

  #handOver(): void {
    for (const cell of this.#cells) {
      this.#counter.inc(cell.labels, cell.pending);
      cell.pending = 0;
    }
  }
}
