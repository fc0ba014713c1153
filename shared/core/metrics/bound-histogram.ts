import { Histogram, type HistogramConfiguration, type LabelValues } from 'prom-client';

/** A histogram of one set of labels. To observe costs a look for the bucket and three additions. */
export interface BoundObservations {
  observe(value: number): void;
}

interface Cell<Label extends string> {
  labels: LabelValues<Label>;
  /** How many values were seen in each bucket alone, the last one for those beyond all bounds. */
  counts: number[];
  sum: number;
}

/**
 * A Prometheus histogram for a request's path. Each set of labels is bound once, beforehand: the library would check and
 * hash the labels, and build objects, at each observation.
 */
export class BoundHistogram<Label extends string = string> extends Histogram<Label> {
  readonly #cells: Cell<Label>[] = [];
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];

  constructor(configuration: Omit<HistogramConfiguration<Label>, 'buckets'> & { buckets: readonly number[] }) {
    super({ ...configuration, buckets: [...configuration.buckets] });
    this.#name = configuration.name;
    this.#help = configuration.help;
    this.#bounds = configuration.buckets;
  }

  /** The histogram of these labels, which from now on is shown, empty until something is observed. */
  bind(labels: LabelValues<Label>): BoundObservations {
    const bounds = this.#bounds;
    const cell: Cell<Label> = { labels, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 };
    this.#cells.push(cell);
    return {
      observe(value) {
        let bucket = 0;
        while (bucket < bounds.length && value > (bounds[bucket] ?? value)) bucket += 1;
        cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1;
        cell.sum += value;
      },
    };
  }

  /** What the library's registry asks of a histogram; not in its declarations, but what its own `get` is made from too. */
  async getForPromString(): Promise<object> {
    const values = this.#cells.flatMap((cell) => this.#valuesOf(cell));
    return { name: this.#name, help: this.#help, type: 'histogram', values, aggregator: 'sum' };
  }

  #valuesOf({ labels: sharedLabels, counts, sum }: Cell<Label>): object[] {
    const name = this.#name;
    let count = 0;
    const buckets = counts.map((each, at) => {
      count += each;
      const le = this.#bounds[at] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { le }, sharedLabels, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sum },
      { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
    ];
  }
}
