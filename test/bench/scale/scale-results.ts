import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { keepResults } from '../peers/results/peer-results.ts';
import type { MachineFacts } from '../peers/systems/machine.ts';
import type { PhaseResult } from './measure-phase.ts';
import type { ScaleSize } from './scale-cluster.ts';

export interface ScaleRun {
  /** Day of the run, such as 2026-12-31. */
  date: string;
  /** The release of the servers. */
  nats: string;
  machine: MachineFacts;
  /** Share of the machine's CPU time, 0 to 1, that programs outside of the simulator took meanwhile. */
  takenByOthers: number;
  sizes: { size: ScaleSize; phases: PhaseResult[] }[];
}

/** The runs that the documentation shows, by name. */
export type ScaleRuns = Partial<Record<ScaleRunName, ScaleRun>>;

/**
 * `before`: whole heartbeats, one pass over all jobs for each change; `after`: the present state; `cluster`: the same with three NATS
 * servers; `queued`: 100,000 waiting requests.
 */
export const scaleRunNames = ['before', 'after', 'cluster', 'queued'] as const;
export type ScaleRunName = (typeof scaleRunNames)[number];

const file = join(import.meta.dirname, '../results/scale.json');

export function keptScaleRuns(): ScaleRuns {
  return JSON.parse(readFileSync(file, 'utf8')) as ScaleRuns;
}

/** Keeps a run. In a kept run of this name, the sizes and phases of the new run are replaced. */
export function keepScaleRun(name: ScaleRunName, run: ScaleRun): void {
  const kept = keptScaleRuns();
  const sizes = [...(kept[name]?.sizes ?? [])];
  for (const { size, phases } of run.sizes) {
    const at = sizes.findIndex((old) => isDeepStrictEqual(old.size, size));
    const merged = [...(sizes[at]?.phases ?? [])];
    for (const phase of phases) {
      const index = merged.findIndex((old) => old.name === phase.name);
      if (index === -1) merged.push(phase);
      else merged[index] = phase;
    }
    if (at === -1) sizes.push({ size, phases: merged });
    else sizes[at] = { size, phases: merged };
  }
  keepResults({ ...kept, [name]: { ...run, sizes } }, file);
}
