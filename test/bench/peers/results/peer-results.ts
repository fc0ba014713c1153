import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MachineFacts } from '../systems/machine.ts';
import type { SystemName } from '../systems/system.ts';

/** Measurements of one run of the comparison. The documentation is generated from the kept one. */
export interface PeerResults {
  /** Day of the run, such as 2026-12-31. */
  date: string;
  machine: MachineFacts;
  /** Whether it was a short run, with rough figures. */
  quick: boolean;
  rounds: number;
  minutes: number;
  /** Share of the machine's CPU time, 0 to 1, that programs outside of the bench took meanwhile. */
  takenByOthers: number;
  systems: SystemResult[];
  cells: CellResult[];
  /** Rounds of cells for which there was no time, or that failed. */
  leftOut: string[];
}

export interface SystemResult {
  name: SystemName;
  title: string;
  version: string;
  settings: string;
  missing?: string;
}

export interface CellResult {
  name: string;
  title: string;
  sides: Record<string, SideResult>;
}

/** Results of one side: a system, or this one with another kind of key. */
export interface SideResult {
  values: Partial<Record<Metric, number[]>>;
  failures: Record<string, number>;
}

export const metrics = {
  requestsPerSecond: 'requests a second',
  p50: 'p50 ms',
  p99: 'p99 ms',
  cpu: 'CPU ms a request',
  byteP50: 'first byte p50 ms',
  byteP99: 'first byte p99 ms',
  textP50: 'first text p50 ms',
  textP99: 'first text p99 ms',
  tokenP50: 'further text p50 ms',
  tokenP99: 'further text p99 ms',
  thereP50: 'way of the request p50 ms',
  chunksPerSecond: 'chunks a second',
  cpuPerChunk: 'CPU µs a chunk',
  held: 'streams held',
  kibPerStream: 'KiB a stream',
  openedPerSecond: 'streams opened a second',
  answered: 'answered',
  failed: 'failed',
  longest: 'longest ms',
  keysPerSecond: 'keys a second',
} as const;

export type Metric = keyof typeof metrics;

export const keptFile = join(import.meta.dirname, '../../results/peers.json');

export function keptResults(): PeerResults {
  return JSON.parse(readFileSync(keptFile, 'utf8')) as PeerResults;
}

export function keepResults(results: object, file: string): void {
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
  writeFileSync(file, `${JSON.stringify(results, rounded, 2)}\n`);
}
