import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadClusterState, readClusterState, saveClusterState } from '#services/rtr/up/cluster-state.ts';
import { UpError } from '#services/rtr/up/up-error.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

let folder: string;

beforeEach(() => {
  folder = join(temporaryFolder(), '.rtr');
});

describe('the state of a cluster', () => {
  it('is read as it was written, and is undefined before', () => {
    expect(readClusterState(folder)).toBeUndefined();
    const state = loadClusterState(folder);
    saveClusterState(folder, state);
    expect(readClusterState(folder)).toEqual(state);
  });

  it.each(['', '{', '[]', '{"natsPassword": 1}'])('is refused with a message when it is damaged: %j', (content) => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'cluster.json'), content);
    expect(() => loadClusterState(folder)).toThrow(UpError);
    const sentence = /cluster\.json is damaged: stop .*, delete the file, and start again/;
    expect(() => loadClusterState(folder)).toThrow(sentence);
  });

  it('is refused with a message when its folder is a file, or when its file is a folder', () => {
    writeFileSync(folder, '');
    expect(() => loadClusterState(folder)).toThrow(`${folder}/cluster.json cannot be used (ENOTDIR)`);
    rmSync(folder);
    mkdirSync(join(folder, 'cluster.json'), { recursive: true });
    expect(() => loadClusterState(folder)).toThrow(`${folder}/cluster.json cannot be used (EISDIR)`);
  });
});
