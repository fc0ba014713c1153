import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packFolder } from '#shared/core/pack-folder.ts';
import { temporaryFolder } from '../../helpers/files/temporary-folder.ts';

function writeFiles(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { mode: path.endsWith('.sh') ? 0o755 : 0o600 });
  }
  return folder;
}

describe('a packed folder', () => {
  it('is unpacked by tar into the same files, below one folder', async () => {
    const long = `${'folder-with-a-long-name/'.repeat(5)}${'n'.repeat(90)}`;
    const files = { 'a.txt': '', 'b/run.sh': '#!/bin/sh\n', 'b/full': 'x'.repeat(1024), [long]: 'ä'.repeat(700) };
    const [archive, target] = [join(temporaryFolder(), 'a.tgz'), temporaryFolder()];
    writeFileSync(archive, await packFolder(writeFiles({ ...files, '.cache/code': 'left out' })));
    execFileSync('tar', ['-xzf', archive, '-C', target]);
    const names = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n');
    expect(names).toEqual(
      Object.keys(files)
        .map((path) => `package/${path}`)
        .sort(),
    );
    for (const [path, content] of Object.entries(files))
      expect(readFileSync(join(target, 'package', path), 'utf8')).toBe(content);
    expect(statSync(join(target, 'package/b/run.sh')).mode & 0o777).toBe(0o755);
    expect(statSync(join(target, 'package/a.txt')).mode & 0o777).toBe(0o644);
  });

  it('is the same for the same files', async () => {
    const files = { 'one.mjs': '1', 'two/three.mjs': '3' };
    const [first, second] = await Promise.all([packFolder(writeFiles(files)), packFolder(writeFiles(files))]);
    expect(first.equals(second)).toBe(true);
  });

  it('refuses a path that no header can contain', async () => {
    await expect(packFolder(writeFiles({ [`a/${'n'.repeat(120)}`]: '' }))).rejects.toThrow('too long for an archive');
  });
});
