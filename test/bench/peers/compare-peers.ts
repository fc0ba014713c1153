import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Releases } from '#shared/core/release.ts';
import { partStarter, startUpstream } from '../cluster/start-core.ts';
import type { Cell, PeerBench } from './cells/cell.ts';
import type { PeerPlan } from './peer-plan.ts';
import type { PeerResults, SystemResult } from './results/peer-results.ts';
import { Recorder } from './results/recorder.ts';
import type { System, SystemKind, SystemName } from './systems/system.ts';
import { machineFacts, watchOthers } from './systems/machine.ts';

export interface PeerComparison {
  plan: PeerPlan;
  quick: boolean;
  kinds: readonly SystemKind[];
  cells: readonly Cell[];
}

/** Streams at once that the shared systems must be able to hold: the maximum of the cells that use them. */
const sharedStreams = 256;

/**
 * Measures all systems in all cells, in turn. A system that cannot be installed or started is reported as missing. Rounds for which there
 * is no time, or that fail, are left out and reported.
 */
export async function comparePeers(comparison: PeerComparison, releases: Releases): Promise<PeerResults> {
  const { plan, quick, cells } = comparison;
  const folder = mkdtempSync(join(tmpdir(), 'rtr-peers-'));
  releases.add('the folder', () => rmSync(folder, { recursive: true, force: true }));
  const startPart = partStarter(folder, releases);
  const generator = startPart('generator', 'test/bench/load/load-generator.ts');
  const { port: upstreamPort } = await startUpstream(startPart);
  let started = 0;
  const startFresh: PeerBench['startFresh'] = async (kind, options) => {
    started += 1;
    const system = await kind.start({ ...options, folder: join(folder, `${kind.name}-${started}`) });
    releases.add(kind.name, () => system.stop());
    return system;
  };

  const reports: SystemResult[] = [];
  const kinds: SystemKind[] = [];
  const running = new Map<SystemName, System>();
  for (const kind of comparison.kinds) {
    const { name, title, settings } = kind;
    let version = '';
    let missing: string | undefined;
    try {
      version = await kind.install();
      running.set(name, await startFresh(kind, { upstreams: [upstreamPort], streams: sharedStreams }));
      kinds.push(kind);
    } catch (error) {
      missing = error instanceof Error ? error.message : String(error);
      process.stderr.write(`${title} is not compared: ${missing}\n`);
    }
    reports.push({ name, title, settings, version, ...(missing !== undefined && { missing }) });
  }

  const recorder = new Recorder();
  const bench = { plan, kinds, running, generator, recorder, startPart, startFresh, upstreamPort };
  const others = watchOthers();
  const beganAt = performance.now();
  const leftOut: string[] = [];
  for (const cell of cells) {
    if (cell.fresh) await stopAll(running);
    for (let round = 0; round < plan.rounds; round += 1) {
      if (performance.now() - beganAt > plan.minutes * 60_000) {
        leftOut.push(`${cell.name}, round ${round + 1}`);
        continue;
      }
      try {
        await cell.measure(bench, round);
      } catch (error) {
        // The measurements of the other cells must not be lost.
        const reason = error instanceof Error ? error.message : String(error);
        process.stderr.write(`${cell.name} failed: ${reason}\n`);
        leftOut.push(`${cell.name}, round ${round + 1} (${reason.split('\n')[0]})`);
      }
    }
  }
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: machineFacts(),
    quick,
    rounds: plan.rounds,
    minutes: Math.round((performance.now() - beganAt) / 60_000),
    takenByOthers: others(),
    systems: reports,
    cells: recorder.cells,
    leftOut,
  };
}

async function stopAll(running: Map<SystemName, System>): Promise<void> {
  for (const [name, system] of running) {
    await system.stop();
    running.delete(name);
  }
}
