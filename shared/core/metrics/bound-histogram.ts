import { Histogram, type HistogramConfiguration, type LabelValues } from 'prom-client';

/** Upper bounds of buckets, in seconds. */
export const secondsBuckets: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
];

/** Upper bounds of buckets, in tokens per second. */
export const speedBuckets: readonly number[] = [1, 2.5, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2500];

/** The histogram of one set of labels. `observe` costs a bucket look-up and three additions. */
export interface BoundObservations {
  observe(value: number): void;
}

interface Cell<Label extends string> {
  labels: LabelValues<Label>;
  /** The number of values in each bucket alone, not cumulative. The last bucket is for values above all bounds. */
  counts: number[];
  sum: number;
}

/**
 * A Prometheus histogram for hot paths. Each set of labels is bound once, because the library checks and hashes the labels, and builds
 * objects, at every observation.
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

  /** Creates the histogram of these labels, which appears in the metrics from now on, at first empty. */
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

  /** Called by the library's registry. The library's declarations lack this method, which its own `get` uses. */
  async getForPromString(): Promise<object> {
    const values = this.#cells.flatMap((cell) => this.#listValues(cell));
    return { name: this.#name, help: this.#help, type: 'histogram', values, aggregator: 'sum' };
  }

  #listValues({ labels: sharedLabels, counts, sum }: Cell<Label>): object[] {
    const name = this.#name;
    let count = 0;
    const buckets = counts.map((bucketCount, index) => {
      count += bucketCount;
      const le = this.#bounds[index] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { le }, sharedLabels, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sum },
      { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
    ];
  }
}
