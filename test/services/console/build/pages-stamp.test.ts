import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { computePagesStamp } from '#services/console/build/pages-stamp.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

const root = join(import.meta.dirname, '../../../..');

it('the stamp of built pages changes with what they import', () => {
  const copy = temporaryFolder();
  for (const each of ['services/console', 'shared', 'package-lock.json'])
    cpSync(join(root, each), join(copy, each), { recursive: true });
  const stamps = new Set([computePagesStamp(copy)]);
  for (const file of ['services/console/contract/sign-in.ts', 'shared/core/tier.ts', 'package-lock.json']) {
    writeFileSync(join(copy, file), `${readFileSync(join(copy, file), 'utf8')}\n`);
    stamps.add(computePagesStamp(copy));
  }
  expect(stamps.size).toBe(4);
});
