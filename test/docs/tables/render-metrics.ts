import { definedMetrics } from '../../helpers/cluster/metric-registries.ts';

/** The rows of the documentation's table of a part's metrics: name, kind, labels, meaning. */
export function metricRows(part: 'ingress' | 'worker'): string[][] {
  return definedMetrics(part)
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map(({ name, type, labelNames, help }) => [
      `\`${name}\``,
      type,
      labelNames.length === 0 ? '–' : labelNames.map((label) => `\`${label}\``).join(' '),
      help,
    ]);
}
