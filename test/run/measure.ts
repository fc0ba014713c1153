import { afterAll, afterEach, beforeAll } from 'vitest';
import { takeStarts, type Start } from '../helpers/processes/starts.ts';
import { treeUsage } from '../helpers/processes/process-tree.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Milliseconds of processor time of this process and what runs under it. Short tests have none of their own: the next one has it. */
    cpuMs?: number;
    /** What a file has started. */
    starts?: Start[];
  }
}

/** Reading the usage of all processes takes milliseconds: it is read after so many. */
const readEveryMs = 200;

let begun = 0;
let last = { at: 0, cpuMs: 0 };

function cpuMs(): number {
  if (process.platform === 'linux') return treeUsage([process.pid]).cpuMs;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Milliseconds of processor time since the last reading. */
function read(): number {
  const before = last.cpuMs;
  last = { at: performance.now(), cpuMs: cpuMs() };
  return last.cpuMs - before;
}

beforeAll(() => {
  read();
  begun = last.cpuMs;
});

afterEach(({ task }) => {
  if (performance.now() - last.at >= readEveryMs) task.meta.cpuMs = read();
});

afterAll(({}, file) => {
  read();
  file.meta.cpuMs = last.cpuMs - begun;
  file.meta.starts = takeStarts();
});
