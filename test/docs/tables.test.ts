import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { definedMetrics } from '../helpers/cluster/metric-registries.ts';
import { keptResults } from '../bench/peers/results/peer-results.ts';
import { chartFile, performanceChart } from './performance-chart.ts';
import { readPages } from './pages.ts';
import { allSettings, shownSettings } from './tables/render-settings.ts';
import { tables, withTables } from './tables/tables.ts';

const pages = readPages();

describe('the generated tables', () => {
  it.each(pages.filter(({ text }) => text.includes('<!-- table ')))(
    'are current in $path (otherwise run `npm run docs`)',
    ({ text }) => {
      expect(text).toBe(withTables(text));
    },
  );

  it('each stand on exactly one page', () => {
    for (const name of Object.keys(tables)) {
      const places = pages.filter(({ text }) => text.includes(`<!-- table ${name} -->`)).map(({ path }) => path);
      expect(places, name).toHaveLength(1);
    }
  });

  it('have every setting once', () => {
    expect(shownSettings.toSorted()).toEqual([...allSettings].toSorted());
  });

  it('have every metric of the code', () => {
    const texts = globSync('{services,shared}/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    const named = texts.flatMap((text) => [...text.matchAll(/'(rtr_[a-z_]+)'/g)].map(([, name = '']) => name));
    expect(named.length).toBeGreaterThan(50);
    const metrics = (['ingress', 'batch-runner', 'worker'] as const).flatMap(definedMetrics);
    const shown = new Set(metrics.map(({ name }) => name));
    expect(named.filter((name) => !shown.has(name))).toEqual([]);
  });

  it('have no empty cells', () => {
    for (const [name, render] of Object.entries(tables)) expect(render(), name).not.toMatch(/\| *\|/);
  });
});

it('the chart of the performance is current (otherwise run `npm run docs`)', () => {
  expect(readFileSync(chartFile, 'utf8')).toBe(performanceChart(keptResults()));
});
