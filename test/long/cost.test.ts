import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';

it('requests, streams and limits take no more processor time than is kept', { tags: ['linux'] }, async () => {
  const bench = spawn(process.execPath, ['test/bench/main.ts', '--cost'], { stdio: 'inherit' });
  onTestFinished(() => void bench.kill());
  const [code] = await once(bench, 'exit');
  expect(code).toBe(0);
});
