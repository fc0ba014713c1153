import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readDataFolder } from '#services/rtr/bootstrap/data-folder.mjs';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

let installed: string;
let checkout: string;
beforeEach(() => {
  installed = temporaryFolder();
  checkout = join(installed, 'checkout');
  mkdirSync(checkout);
  writeFileSync(join(checkout, 'package-lock.json'), '{}');
});

describe('the data folder', () => {
  it('of a checkout is in it', () => {
    expect(readDataFolder(checkout, ['up'], { XDG_DATA_HOME: '/data' })).toEqual({
      folder: join(checkout, '.rtr'),
      words: ['up'],
    });
  });

  it.each([
    ['of an installed package is below $XDG_DATA_HOME', { XDG_DATA_HOME: '/data' }, '/data/model-router'],
    [
      'is in the home folder without $XDG_DATA_HOME',
      { XDG_DATA_HOME: '' },
      join(homedir(), '.local/share/model-router'),
    ],
  ])('%s', (_, environment, folder) => {
    expect(readDataFolder(installed, [], environment).folder).toBe(folder);
  });

  it.each([
    [['--data', '/mine', 'up']],
    [['up', '--data', '/mine']],
    [['--data=/mine', 'up']],
    [['--data=/other', 'up', '--data', '/mine']],
  ])('is the one that the command line names: %j', (args) => {
    expect(readDataFolder(checkout, args, {})).toEqual({ folder: '/mine', words: ['up'] });
  });

  it('is relative to the working folder', () => {
    expect(readDataFolder(installed, ['--data', 'mine'], {}).folder).toBe(resolve('mine'));
  });

  it.each([[['up', '--data']], [['up', '--data=']], [['env', '--', '--data', 'x']]])(
    'is not read from %j, whose words stay as they are',
    (args) => {
      expect(readDataFolder(checkout, args, {})).toEqual({ folder: join(checkout, '.rtr'), words: args });
    },
  );
});
