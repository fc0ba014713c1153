import { expect, it } from 'vitest';
import { gemini } from '#services/cli-worker/clis/gemini/gemini.ts';
import { ProcessGuard } from '#services/cli-worker/process/process-guard.ts';
import { ProcessStarter, createWorkspace } from '#services/cli-worker/process/process-starter.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';
import { stopAfterTest } from '../../../../helpers/stop-after-test.ts';

it('Gemini CLI leaves no open server if its process cannot be created', async () => {
  const root = temporaryFolder();
  const guard = stopAfterTest(new ProcessGuard(root, process.env['PATH']));
  const environment = { GEMINI_API_KEY: 'key' };
  const starter = new ProcessStarter('gemini\0', guard, environment, []);
  const countServers = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
  const before = countServers();
  const workspace = await createWorkspace(root);
  const { signal } = new AbortController();
  await expect(gemini.start({ starter, workspace, models: ['m'], signal })).rejects.toThrow('null bytes');
  expect(countServers()).toBe(before);
});
