import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What one client did in one format, on each engine. */
export interface ClientResult {
  client: string;
  version: string;
  format: string;
  /** What it did with the demo engine: the kind of its task, or why it did not. */
  demo: string;
  /** What it did with llama-server. */
  llamaServer: string;
}

const file = join(import.meta.dirname, 'results.json');

type Row = [client: string, version: string, format: string, demo: string, llamaServer: string];

/** The results of the run that the documentation's table shows. */
export function keptResults(): ClientResult[] {
  const rows = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Row[]) : [];
  return rows.map(([client, version, format, demo, llamaServer]) => ({ client, version, format, demo, llamaServer }));
}

/** Writes a line for each result, as the formatter does. */
export function keepResults(results: readonly ClientResult[]): void {
  const rows = results.map((one): Row => [one.client, one.version, one.format, one.demo, one.llamaServer]);
  const lines = rows.map((row) => `  [${row.map((cell) => JSON.stringify(cell)).join(', ')}]`);
  writeFileSync(file, `[\n${lines.join(',\n')}\n]\n`);
}
