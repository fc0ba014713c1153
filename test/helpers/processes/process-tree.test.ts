import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { treeUsage } from './process-tree.ts';

/** Takes 200 ms of CPU time, also on a busy machine. */
const busy = 'while (process.cpuUsage().user < 200_000);';

describe('the usage of a tree of processes', { tags: ['linux'] }, () => {
  it('includes children, and those that have ended', async () => {
    // A shell with a child that works and ends, and one that stays.
    const script = `"${process.execPath}" -e '${busy}'; echo done; sleep 20; true`;
    const shell = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    try {
      await once(shell.stdout, 'data');
      const usage = treeUsage([shell.pid ?? 0]);
      expect(usage.cpuMs).toBeGreaterThanOrEqual(150);
      expect(usage.rssBytes).toBeGreaterThan(500_000);
    } finally {
      process.kill(-(shell.pid ?? 0), 'SIGKILL');
    }
  });

  it('is zero without processes', () => {
    expect(treeUsage([])).toEqual({ cpuMs: 0, rssBytes: 0 });
  });
});
