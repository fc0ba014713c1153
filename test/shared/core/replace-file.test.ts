import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replaceFile } from '#shared/core/replace-file.ts';
import { temporaryFolder } from '../../helpers/files/temporary-folder.ts';

describe('a replaced file', () => {
  it('has its own permissions, whatever an earlier process with the same id has left behind', () => {
    const file = join(temporaryFolder(), 'a.creds');
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, 'half');
    chmodSync(draft, 0o644);
    replaceFile(file, 'secret');
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['secret', 0o600]);
  });

  it('leaves no copy of its content behind when it cannot be replaced', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'a.creds');
    mkdirSync(file);
    expect(() => replaceFile(file, 'secret')).toThrow('EISDIR');
    expect(readdirSync(folder)).toEqual(['a.creds']);
  });
});
