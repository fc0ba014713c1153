import { expect, it } from 'vitest';
import { CliProcess } from '#services/cli-worker/process/cli-process.ts';
import { ProcessGuard } from '#services/cli-worker/process/process-guard.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';

it('a process ends when the wait for its result fails', async () => {
  const cwd = temporaryFolder();
  const guard = stopAfterTest(new ProcessGuard(cwd, process.env['PATH']));
  const child = new CliProcess({ command: 'sleep', args: ['60'], cwd, environment: {}, guard });
  const failure = new Error('not ready');
  const wait = child.killOnFailure(new AbortController().signal, () => Promise.reject(failure));
  await expect(wait).rejects.toBe(failure);
  expect(await child.whenEnded).toEqual({ how: 'was ended by SIGKILL', isSuccess: false });
});
