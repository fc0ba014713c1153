import { expect, it, onTestFinished } from 'vitest';
import { copyProject } from '../../../../helpers/processes/project-copy.ts';

it('rtr up starts again within three seconds', async () => {
  const project = await copyProject();
  onTestFinished(() => project.remove());
  await project.up();
  const times: number[] = [];
  for (let start = 0; start < 3; start += 1) {
    await project.down();
    const startedAt = performance.now();
    await project.up();
    times.push(performance.now() - startedAt);
  }
  // The fastest start, so that other load on the machine does not count.
  expect(Math.min(...times)).toBeLessThan(3_000);
});
