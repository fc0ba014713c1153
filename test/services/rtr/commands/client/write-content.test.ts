import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { writeContent } from '#services/rtr/commands/client/write-content.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';

describe('content for a new file', () => {
  function start(onPiece: (folder: string, path: string) => void) {
    const folder = temporaryFolder();
    const path = join(folder, 'a.bin');
    async function* pieces() {
      yield Buffer.from('whole');
      onPiece(folder, path);
    }
    const write = writeContent(pieces(), { target: { kind: 'new', path }, output: new PassThrough() });
    return { folder, path, write };
  }

  it('that cannot be put in its place leaves no empty file', async () => {
    const { folder, write } = start((inFolder) => {
      for (const partial of readdirSync(inFolder)) rmSync(join(inFolder, partial));
    });
    await expect(write).rejects.toMatchObject({ code: 'invalid_request' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('leaves a file that has appeared meanwhile as it is', async () => {
    const { folder, path, write } = start((_, file) => writeFileSync(file, 'mine'));
    await expect(write).rejects.toThrow('a.bin cannot be used: it is there already');
    expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['a.bin'], 'mine']);
  });
});
