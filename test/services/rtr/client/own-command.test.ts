import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findOwnCommand } from '#services/rtr/client/lib/own-command.mjs';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

/** Creates a folder in a cache of npx, as npm does, and returns a file of the package in it. */
function fetched(packageJson: object): string {
  const cache = join(temporaryFolder(), '_npx', '805f536dc7cbad8e');
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), JSON.stringify(packageJson));
  return join(cache, 'node_modules', 'model-router', 'services', 'rtr', 'client', 'lib', 'own-command.mjs');
}

describe('the command in sentences that name a further command', () => {
  const file = '/opt/model-router/services/rtr/client/lib/own-command.mjs';

  it('is that of npx in the project, also under a script of npm', () => {
    expect(findOwnCommand(file, { npm_lifecycle_script: "'rtr'" })).toBe('npx rtr');
    expect(findOwnCommand(file, { npm_lifecycle_script: 'exec node services/rtr/bootstrap.mjs up' })).toBe('npx rtr');
  });

  it('names the package that npx has fetched, in quotes if the shell needs them', () => {
    const url = 'http://127.0.0.1:8484/rtr.tgz';
    const variables = { npm_lifecycle_script: 'rtr' };
    expect(findOwnCommand(fetched({ _npx: { packages: [url] } }), variables)).toBe(`npx ${url}`);
    expect(findOwnCommand(fetched({ _npx: { packages: ['/my files/rtr.tgz'] } }), variables)).toBe(
      "npx '/my files/rtr.tgz'",
    );
    expect(findOwnCommand(fetched({}), variables)).toBe('npx rtr');
  });

  it('is `rtr` otherwise, also below another program of npm', () => {
    expect(findOwnCommand(file, {})).toBe('rtr');
    expect(findOwnCommand(file, { npm_lifecycle_script: 'node test/run.mjs' })).toBe('rtr');
  });
});
