import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startSmallDisks } from './small-disks.ts';

it('a small disk is filled and emptied again, and keeps the files that programs wrote', async ({ skip }) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-disks-'));
  const disks = await startSmallDisks(folder, ['one', 'two']);
  if (!disks) return skip('the system permits no namespaces');
  try {
    const write = (name: string, text: string): number | null => {
      const [command, ...args] = [...disks.enter, 'sh', '-c', `echo ${text} >>${disks.folderOf(name)}/file`];
      return spawnSync(command, args).status;
    };
    const read = (name: string): string => {
      const [command, ...args] = [...disks.enter, 'cat', `${disks.folderOf(name)}/file`];
      return spawnSync(command, args, { encoding: 'utf8' }).stdout;
    };
    expect(write('two', 'before')).toBe(0);
    await disks.fill('one');
    expect(write('one', 'full')).not.toBe(0);
    expect(write('two', 'beside')).toBe(0);
    await disks.empty('one');
    expect(write('one', 'after')).toBe(0);
    expect([read('one'), read('two')]).toEqual(['after\n', 'before\nbeside\n']);
  } finally {
    disks.stop();
    rmSync(folder, { recursive: true });
  }
});
