import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findClis } from '#services/cli-worker/find-clis.ts';
import { temporaryFolder } from '../../helpers/files/temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
  for (const name of ['claude', 'codex']) writeFileSync(join(folder, name), '', { mode: 0o755 });
  mkdirSync(join(folder, 'home/.codex'), { recursive: true });
  writeFileSync(join(folder, 'home/.codex/auth.json'), '{}');
});

describe('finding command-line agents', () => {
  it('finds agents on the PATH, and whether they are signed in', async () => {
    const found = await findClis({ PATH: `relative:${folder}`, HOME: join(folder, 'home') });
    expect(found.map(({ kind, signedIn, program }) => ({ kind, signedIn, program }))).toEqual([
      { kind: 'claude', signedIn: false, program: join(folder, 'claude') },
      { kind: 'codex', signedIn: true, program: join(folder, 'codex') },
    ]);
  });

  it('counts a key as signed in', async () => {
    const [claude] = await findClis({ PATH: folder, ANTHROPIC_API_KEY: 'key' });
    expect(claude).toMatchObject({ kind: 'claude', signedIn: true, models: ['sonnet', 'opus', 'haiku'] });
  });

  it('finds nothing without a PATH', async () => {
    expect(await findClis({})).toEqual([]);
  });
});
