import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const run = `
  import { runVitest } from ${JSON.stringify(join(import.meta.dirname, 'read-run.ts'))};
  const { passed, failed } = await runVitest([], [], { root: process.argv[1], reporters: ['dot'] });
  process.stdout.write('\\n' + JSON.stringify({ passed, failed }));
  process.exit(0);
`;

it('a run counts a failed set-up of the whole run as a failure', async () => {
  const root = await mkdtemp(join(tmpdir(), 'rtr-run-'));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeFile(join(root, 'set-up.mjs'), `export default () => { throw new Error('no engine'); };`);
  await writeFile(join(root, 'vitest.config.mjs'), `export default { test: { globalSetup: ['set-up.mjs'] } };`);
  await writeFile(join(root, 'one.test.mjs'), `throw new Error('is not reached');`);
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', run, root], {
    timeout: 30_000,
  });
  const [result = ''] = stdout.split('\n').slice(-1);
  expect(JSON.parse(result)).toEqual({ passed: 0, failed: 1 });
});
