import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { machineMs } from '../../cluster/process-usage.ts';
import { treeUsage } from '../../../helpers/processes/process-tree.ts';

export interface MachineFacts {
  cpu: string;
  cores: number;
  memoryGib: number;
  kernel: string;
  node: string;
}

export function machineFacts(): MachineFacts {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
  };
}

/**
 * Starts to measure.
 * @returns a function that returns the share of the machine's CPU time that other programs have taken since then
 */
export function watchOthers(): () => number {
  const now = () => ({ ...machineMs(), own: treeUsage([process.pid]).cpuMs });
  const before = now();
  return () => {
    const after = now();
    const others = after.programs - before.programs - (after.own - before.own);
    return Math.max(0, others / (after.all - before.all));
  };
}
