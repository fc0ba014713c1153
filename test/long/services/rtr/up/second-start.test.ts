import { expect, it, onTestFinished } from 'vitest';
import { least } from '../../../../helpers/least.ts';
import { copyProject } from '../../../../helpers/processes/project-copy.ts';

it('rtr up starts again within three seconds', async () => {
  const project = await copyProject();
  onTestFinished(() => project.remove());
  await project.up();
  const start = async (): Promise<number> => {
    await project.down();
    const startedAt = performance.now();
    await project.up();
    return performance.now() - startedAt;
  };
  expect(await least(start, 3_000)).toBeLessThan(3_000);
});
