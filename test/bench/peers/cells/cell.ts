import type { StartPart } from '../../cluster/start-core.ts';
import type { Part } from '../../cluster/start-part.ts';
import type { Recorder } from '../results/recorder.ts';
import type { Access, StartOptions, System, SystemKind, SystemName } from '../systems/system.ts';
import type { PeerPlan } from '../peer-plan.ts';

export interface Cell {
  name: string;
  title: string;
  /** Whether the cell starts systems of its own; the systems that all other cells share are stopped before. */
  fresh: boolean;
  /** Measures every side once. Called once per round. */
  measure(bench: PeerBench, round: number): Promise<void>;
}

export interface PeerBench {
  plan: PeerPlan;
  kinds: readonly SystemKind[];
  /** Those of them that all cells share, while they run. */
  running: ReadonlyMap<SystemName, System>;
  generator: Part;
  recorder: Recorder;
  startPart: StartPart;
  /** Starts a system that only this cell uses. The cell stops it. */
  startFresh(kind: SystemKind, options: Omit<StartOptions, 'folder'>): Promise<System>;
  /** Port of the upstream of the shared systems. */
  upstreamPort: number;
}

export interface Side {
  name: string;
  system: SystemName;
  access: Access;
}

export function sideName(system: SystemName, access: Access): string {
  return access === 'unlimited' ? system : `${system}, ${access}`;
}

/** Starts a system of each kind in turn, measures it and stops it. Records an error as a failure of that system. */
export async function measureFresh(
  bench: PeerBench,
  cell: { name: string; title: string },
  kinds: readonly SystemKind[],
  options: (kind: SystemKind) => Omit<StartOptions, 'folder'>,
  measure: (kind: SystemKind, system: System) => Promise<void>,
): Promise<void> {
  for (const kind of kinds) {
    try {
      const system = await bench.startFresh(kind, options(kind));
      try {
        await measure(kind, system);
      } finally {
        await system.stop();
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      bench.recorder.add(cell, kind.name, {}, { [reason.split('\n')[0] ?? '']: 1 });
    }
  }
}

/** Returns the sides in the order of this round: each round begins with another side. */
export function rotated<Item>(items: readonly Item[], round: number): Item[] {
  const first = items.length === 0 ? 0 : round % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
