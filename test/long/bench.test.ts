import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Verdict } from '../bench/report/judge.ts';
import type { Results } from '../bench/report/results.ts';
import { temporaryFolder } from '../helpers/files/temporary-folder.ts';

it('the bench finds nothing grossly wrong in its short run', { tags: ['linux'] }, async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'results.json');
  const bench = spawn(process.execPath, ['test/bench/main.ts', '--quick', '--json', file], { stdio: 'inherit' });
  onTestFinished(() => void bench.kill());
  const [code] = await once(bench, 'exit');
  const { verdicts, busy } = JSON.parse(readFileSync(file, 'utf8')) as Results & { verdicts: Verdict[] };
  expect(verdicts.filter(({ passed }) => !passed)).toEqual([]);
  expect(busy.through.requests).toBeGreaterThan(100);
  expect(code).toBe(0);
});
