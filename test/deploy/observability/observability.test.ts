import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorTable, isErrorCode } from '#shared/core/errors.ts';
import { createServiceRegistry } from '#shared/core/metrics/service-registry.ts';
import { definedMetrics, type DefinedMetric } from '../../helpers/cluster/metric-registries.ts';
import {
  dashboardQueries,
  observabilityFolder,
  readAlerts,
  readDashboards,
} from '../../helpers/deploy/observability-files.ts';

const added = ['job', 'instance'];

/** The labels of every metric that the parts of a cluster export. */
const shown = new Map<string, Set<string>>([['up', new Set(added)]]);
const parts = ['ingress', 'batch-runner', 'worker'] as const;
const ofNode = createServiceRegistry('test').getMetricsAsArray() as unknown as DefinedMetric[];
for (const { name, type, labelNames } of [...parts.flatMap(definedMetrics), ...ofNode]) {
  const all = new Set([...labelNames, ...added]);
  if (type === 'histogram') shown.set(`${name}_bucket`, new Set([...all, 'le']));
  else shown.set(name, all);
  if (type === 'histogram' || type === 'summary')
    for (const part of ['sum', 'count']) shown.set(`${name}_${part}`, all);
}

const keywords = new Set(['and', 'or', 'unless', 'bool', 'offset', 'on', 'ignoring', 'by', 'without']);

/** Names in an expression that no part exports. */
function unknownNames(where: string, expr: string): string[] {
  const { metrics, groupedBy } = promqlNames(expr);
  const missing = metrics.filter(({ name }) => !shown.has(name)).map(({ name }) => `${where}: no metric ${name}`);
  const wrong = metrics.flatMap(({ name, labels }) =>
    labels
      .filter((label) => shown.has(name) && !shown.get(name)?.has(label))
      .map((label) => `${where}: ${name} has no ${label}`),
  );
  const ungroupable = groupedBy
    .filter((label) => !metrics.some(({ name }) => shown.get(name)?.has(label)))
    .map((label) => `${where}: nothing has ${label}`);
  return [...missing, ...wrong, ...ungroupable];
}

describe('the dashboards', () => {
  it('use only metrics and labels that the parts export', () => {
    const queries = dashboardQueries();
    expect(queries.length).toBeGreaterThan(60);
    expect(queries.flatMap(({ where, expr }) => unknownNames(where, expr))).toEqual([]);
  });

  it('are found to use others, where they do', () => {
    const expr = 'sum by (nobody) (rate(rtr_request_total{tear="gpu"}[5m])) / rtr_jobs{stat="queued"}';
    const found = ['x: no metric rtr_request_total', 'x: rtr_jobs has no stat', 'x: nothing has nobody'];
    expect(unknownNames('x', expr)).toEqual(found);
  });

  it('cover every metric of the router', () => {
    const used = new Set(dashboardQueries().flatMap(({ expr }) => promqlNames(expr).metrics.map(({ name }) => name)));
    const defined = parts.flatMap(definedMetrics).map(({ name }) => name);
    expect(defined.filter((name) => !used.has(name) && !used.has(`${name}_bucket`))).toEqual([]);
  });

  it('have panels with units that do not overlap, and a selectable data source', () => {
    for (const [file, { uid, templating, panels }] of readDashboards()) {
      expect(uid, file).toMatch(/^rtr-/);
      expect(templating.list[0], file).toMatchObject({ name: 'datasource', type: 'datasource' });
      expect(new Set(panels.map(({ id }) => id)).size, file).toBe(panels.length);
      const places = new Set<string>();
      for (const { type, title, fieldConfig, gridPos } of panels) {
        if (type !== 'row') expect(fieldConfig?.defaults.unit, `${file}: ${title}`).toBeTruthy();
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
            expect(places.has(`${x} ${y}`), `${file}: ${title} overlaps`).toBe(false);
            places.add(`${x} ${y}`);
          }
        expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      }
    }
  });
});

describe('the alerts', () => {
  it('use only metrics and labels that the parts export', () => {
    expect(readAlerts().flatMap(({ alert, expr }) => unknownNames(alert, expr))).toEqual([]);
  });

  it('are each explained in the operations guide, at their runbook link', () => {
    const guide = readFileSync('docs/operations.md', 'utf8');
    const headings = [...guide.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
    for (const { alert, annotations } of readAlerts()) {
      expect(headings).toContain(alert);
      expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
    }
  });

  it("count every error code that is not the client's fault", () => {
    const { expr } = readAlerts().find(({ alert }) => alert === 'RtrErrorRate') ?? { expr: '' };
    const codes = (/code=~"([^"]*)"/.exec(expr)?.[1] ?? '').split('|');
    const ours = Object.entries(errorTable).filter(([code, { status }]) => status >= 500 && code !== 'shutting_down');
    expect(codes.every(isErrorCode)).toBe(true);
    expect(codes.toSorted()).toEqual(ours.map(([code]) => code).toSorted());
  });

  it('are each tested', () => {
    const tried = readFileSync(join(import.meta.dirname, 'alerts.test.yml'), 'utf8');
    for (const { alert } of readAlerts()) expect(tried).toContain(`alertname: ${alert}\n`);
  });

  it('fire when they should and not before', { tags: ['prometheus'], timeout: 90_000 }, () => {
    expect(promtool('check', 'rules', join(observabilityFolder, 'alerts.yml'))).toContain('SUCCESS');
    // Days of alerts are computed: seconds of a core.
    expect(promtool('test', 'rules', join(import.meta.dirname, 'alerts.test.yml'))).toContain('SUCCESS');
  });

  it('are loaded by a configuration that Prometheus takes', { tags: ['prometheus'] }, () => {
    expect(promtool('check', 'config', join(observabilityFolder, 'prometheus.yml'))).toContain('SUCCESS');
  });
});

function promtool(...args: string[]): string {
  return execFileSync('promtool', args, { stdio: 'pipe', encoding: 'utf8' });
}

/** The names in a PromQL expression without comments: each metric with the labels of its selector, and the labels of groupings. */
function promqlNames(expression: string) {
  const groupedBy: string[] = [];
  const withoutGroups = expression.replaceAll(
    /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g,
    (_, names: string) => {
      groupedBy.push(...(names.match(/\w+/g) ?? []));
      return ' ';
    },
  );
  const metrics: { name: string; labels: string[] }[] = [];
  const plain = withoutGroups.replaceAll(/\[[^\]]*\]/g, ' ');
  for (const [, name = '', selector = '', call] of plain.matchAll(
    /(?<![\w"$])([a-z_:][\w:]*)\s*(\{(?:[^}"]|"[^"]*")*\})?\s*(\()?/gi,
  )) {
    if (call === undefined && !keywords.has(name)) metrics.push({ name, labels: labelsIn(selector) });
  }
  return { metrics, groupedBy };
}

function labelsIn(selector: string): string[] {
  return [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label);
}
