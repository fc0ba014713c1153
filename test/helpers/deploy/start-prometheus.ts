import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { observabilityFolder } from './observability-files.ts';
import { until } from '../until.ts';

const answer = z.object({
  status: z.string(),
  error: z.string().optional(),
  data: z.object({ result: z.array(z.unknown()) }).optional(),
});
const alerts = z.object({
  data: z.object({ alerts: z.array(z.object({ state: z.string(), labels: z.record(z.string(), z.string()) })) }),
});

/**
 * Starts Prometheus for these targets.
 * @param targets addresses `host:port` by job
 * @param holdFor time that a condition must hold before its alert fires, in place of the minutes of the rules
 */
export async function startPrometheus(targets: Record<string, string[]>, holdFor: string) {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-prometheus-'));
  const rules = readFileSync(join(observabilityFolder, 'alerts.yml'), 'utf8');
  writeFileSync(join(folder, 'alerts.yml'), rules.replaceAll(/^( +for:) .*$/gm, `$1 ${holdFor}`));
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '900ms', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: Object.entries(targets).map(([name, addresses]) => ({
      job_name: name,
      static_configs: [{ targets: addresses }],
    })),
  };
  // JSON is valid YAML.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const address = `127.0.0.1:${await findFreePort()}`;
  const child = spawn(
    'prometheus',
    ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=${address}`],
    { cwd: folder, stdio: 'ignore' },
  );
  const gone = once(child, 'exit');
  const ask = async (path: string): Promise<unknown> => (await fetch(`http://${address}${path}`)).json();
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await gone;
    rmSync(folder, { recursive: true });
  };
  try {
    await until(async () => (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok === true, 60_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    stop,
    /**
     * Returns the number of series of an expression over the last seconds.
     * @throws Prometheus' error message
     */
    seriesOf: async (expr: string, seconds: number) => {
      const end = Date.now() / 1000;
      const parameters = { query: expr, start: String(end - seconds), end: String(end), step: '1' };
      const found = answer.parse(await ask(`/api/v1/query_range?${String(new URLSearchParams(parameters))}`));
      if (found.status !== 'success') throw new Error(`${found.error}: ${expr}`);
      return found.data?.result.length ?? 0;
    },
    firing: async () => {
      const now = alerts.parse(await ask('/api/v1/alerts'));
      return now.data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels['alertname'] ?? '');
    },
    targetsUp: async () => {
      const found = answer.parse(await ask('/api/v1/query?query=up%20%3D%3D%201'));
      return found.data?.result.length ?? 0;
    },
  };
}

/** A Prometheus that scrapes every second, with the project's alerts. */
export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** Whether Prometheus and promtool are installed. */
export const hasPrometheus = ['prometheus', 'promtool'].every(
  (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0,
);
