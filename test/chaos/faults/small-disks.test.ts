import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/files/temporary-folder.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { startSmallDisks } from './small-disks.ts';

it('a small disk is filled and emptied again, and keeps the files that programs wrote', async ({ skip }) => {
  const disks = await startSmallDisks(temporaryFolder(), ['one', 'two']);
  if (!disks) return skip('the system permits no namespaces');
  stopAfterTest(disks);
  const run = (script: string, name: string) => {
    const [command, ...args] = [...disks.enter, 'sh', '-c', `${script}${disks.folderOf(name)}/file`];
    return spawnSync(command, args, { encoding: 'utf8' });
  };
  const write = (name: string, text: string): number | null => run(`echo ${text} >>`, name).status;
  expect(write('two', 'before')).toBe(0);
  await disks.fill('one');
  expect(write('one', 'full')).not.toBe(0);
  expect(write('two', 'beside')).toBe(0);
  await disks.empty('one');
  expect(write('one', 'after')).toBe(0);
  const texts = ['one', 'two'].map((name) => run('cat ', name).stdout);
  expect(texts).toEqual(['after\n', 'before\nbeside\n']);
});
