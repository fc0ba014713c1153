import { expect, it } from 'vitest';
import { formatStartSummary, type StartSummary } from '#services/rtr/up/start-summary.ts';

const key = `rtr_${'k'.repeat(54)}`;
const facts: StartSummary = {
  baseUrl: 'http://127.0.0.1:8484',
  consoleUrl: 'http://127.0.0.1:8484',
  chatFormat: 'openai',
  metricsUrl: 'http://127.0.0.1:8485/metrics',
  newKey: key,
  maskedKeys: ['rtr_k…k'],
  adminToken: 't'.repeat(43),
  engines: [],
  plan: { ready: [], unready: [] },
  usesDemoEngine: true,
  hasServingWorker: true,
};

it('fits a terminal of 80 columns and 24 lines, except for the link and the request to paste', () => {
  const lines = formatStartSummary(facts).trim().split('\n');
  expect(lines.length).toBeLessThanOrEqual(22);
  const wide = lines.filter((line) => line.length > 80 && !/Authorization|\/link\//.test(line));
  expect(wide).toEqual([]);
});

it('shows two keys of many', () => {
  const maskedKeys = Array.from({ length: 300 }, (_, i) => `rtr_${i}…k`);
  const text = formatStartSummary({ ...facts, newKey: undefined, maskedKeys });
  expect(text).toContain('  key       rtr_0…k, rtr_1…k and 298 more\n');
  expect(text).toContain('"Authorization: Bearer $RTR_KEY"');
});
