import { writeFileSync } from 'node:fs';
import { keptResults } from '../bench/peers/results/peer-results.ts';
import { readPages } from './pages.ts';
import { chartFile, performanceChart } from './performance-chart.ts';
import { withTables } from './tables/tables.ts';

// Run by `npm run docs`: regenerates the tables and the chart of the README and the docs from the code and the kept results.
for (const { path, text } of readPages()) {
  const current = withTables(text);
  if (current !== text) writeFileSync(path, current);
}
writeFileSync(chartFile, performanceChart(keptResults()));
