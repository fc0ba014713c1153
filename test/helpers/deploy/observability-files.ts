import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/** The folder of the dashboards and alerts. */
export const observabilityFolder = join(import.meta.dirname, '..', '..', '..', 'deploy', 'observability');

const panel = z.looseObject({
  id: z.number(),
  type: z.string(),
  title: z.string(),
  targets: z.array(z.looseObject({ expr: z.string(), refId: z.string() })).default([]),
  fieldConfig: z.looseObject({ defaults: z.looseObject({ unit: z.string() }) }).optional(),
  gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
});

const dashboard = z.looseObject({
  uid: z.string(),
  title: z.string(),
  templating: z.looseObject({
    list: z.array(z.looseObject({ name: z.string(), type: z.string(), query: z.unknown() })),
  }),
  panels: z.array(panel),
});

const rule = z.object({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.object({ severity: z.enum(['critical', 'warning', 'info']) }),
  annotations: z.object({ summary: z.string(), description: z.string(), runbook: z.string() }),
});

export function readDashboards(): Map<string, z.output<typeof dashboard>> {
  const files = globSync('grafana/dashboards/*.json', { cwd: observabilityFolder });
  return new Map(
    files.map((file) => [
      basename(file),
      dashboard.parse(JSON.parse(readFileSync(join(observabilityFolder, file), 'utf8'))),
    ]),
  );
}

/** Every query of every dashboard, as sent to Prometheus, with its location for messages. */
export function dashboardQueries(): { where: string; expr: string }[] {
  return [...readDashboards()].flatMap(([file, { panels }]) =>
    panels.flatMap(({ title, targets }) =>
      targets.map(({ expr, refId }) => ({ where: `${file}: ${title} ${refId}`, expr: filledIn(expr) })),
    ),
  );
}

export function readAlerts(): z.output<typeof rule>[] {
  const file = parse(readFileSync(join(observabilityFolder, 'alerts.yml'), 'utf8')) as unknown;
  return z
    .object({ groups: z.array(z.object({ rules: z.array(rule) })) })
    .parse(file)
    .groups.flatMap(({ rules }) => rules);
}

/** Replaces Grafana's variables: by a match for everything, and by a minute. */
function filledIn(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(?:tier|model|instance)\b/g, '.*');
}
