import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { pagesStamp } from '#services/console/build/pages-stamp.ts';

const root = join(import.meta.dirname, '../../../..');

it('the stamp of built pages changes with what they import', () => {
  const copy = mkdtempSync(join(tmpdir(), 'rtr-pages-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  for (const each of ['services/console', 'shared', 'package-lock.json'])
    cpSync(join(root, each), join(copy, each), { recursive: true });
  const stamps = new Set([pagesStamp(copy)]);
  for (const file of ['services/console/contract/sign-in.ts', 'shared/core/tier.ts', 'package-lock.json']) {
    writeFileSync(join(copy, file), `${readFileSync(join(copy, file), 'utf8')}\n`);
    stamps.add(pagesStamp(copy));
  }
  expect(stamps.size).toBe(4);
});
