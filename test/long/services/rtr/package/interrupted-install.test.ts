import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { version } from '#shared/core/version.ts';
import { report } from '../../../../helpers/compose/report.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';
import { createNpx, packProgram } from '../../../../helpers/processes/packed-program.ts';
import { seededRandom } from '../../../../helpers/seeded-random.ts';

/** Milliseconds that the installation takes at most where npm has kept the downloads. */
const installMs = 8_000;

it('the package installs after a Ctrl-C at any of ten moments of its installation', async () => {
  const file = await packProgram();
  const folder = temporaryFolder();
  const random = seededRandom(46);
  for (let round = 0; round < 10; round += 1) {
    const home = join(folder, `home-${round}`);
    mkdirSync(home);
    const npx = createNpx(file, home, join(folder, 'npm-cache'));
    const interrupted = npx(['--version']);
    const afterMs = random() * installMs;
    await Promise.race([sleep(afterMs), interrupted.ended]);
    interrupted.interrupt();
    const code = await interrupted.ended;
    const next = npx(['--version']);
    report(`after ${(afterMs / 1000).toFixed(1)} s: ${code}, then ${await next.ended}`);
    expect([next.out, interrupted.err + next.err]).toEqual([
      `${version}\n`,
      expect.not.stringMatching(/npm error|at .*\.mjs:/) as string,
    ]);
    rmSync(home, { recursive: true });
  }
}, 600_000);
