import { afterAll, afterEach, beforeAll, beforeEach, type RunnerTestFile } from 'vitest';
import { takeStarts, type Start } from '../helpers/processes/starts.ts';
import { treeUsage } from '../helpers/processes/process-tree.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Milliseconds of processor time of this process and its children. That of short tests is added to a later one. */
    cpuMs?: number;
    /** Starts of a file. */
    starts?: Start[];
  }
}

/** Milliseconds between two readings: reading the usage of all processes takes milliseconds. */
const readEveryMs = 200;

let file: RunnerTestFile | undefined;
let begunMs = 0;
let last = { at: performance.now(), cpuMs: cpuMs() };

function cpuMs(): number {
  if (process.platform === 'linux') return treeUsage([process.pid]).cpuMs;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Returns the milliseconds of processor time since the last reading; 0 if that was just before. */
function cpuSinceLast(): number {
  if (performance.now() - last.at < readEveryMs) return 0;
  const before = last.cpuMs;
  last = { at: performance.now(), cpuMs: cpuMs() };
  return last.cpuMs - before;
}

beforeAll(() => {
  file = undefined;
  begunMs = last.cpuMs;
});

beforeEach(({ task }) => {
  file = task.file;
});

afterEach(({ task }) => {
  task.meta.cpuMs = cpuSinceLast();
});

afterAll(() => {
  cpuSinceLast();
  if (file) Object.assign(file.meta, { cpuMs: last.cpuMs - begunMs, starts: takeStarts() });
});
