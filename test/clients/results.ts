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

/** The results of the run that the documentation's table shows. */
export function keptResults(): ClientResult[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ClientResult[]) : [];
}

export function keepResults(results: readonly ClientResult[]): void {
  writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
}
