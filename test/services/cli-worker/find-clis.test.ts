import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findClis } from '#services/cli-worker/find-clis.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rtr-find-'));
  for (const name of ['claude', 'codex']) writeFileSync(join(folder, name), '');
  chmodSync(join(folder, 'codex'), 0o755);
  chmodSync(join(folder, 'claude'), 0o755);
  mkdirSync(join(folder, 'home/.codex'), { recursive: true });
  writeFileSync(join(folder, 'home/.codex/auth.json'), '{}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('finding command-line agents', () => {
  it('finds those on the PATH, and whether they are signed in', async () => {
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
