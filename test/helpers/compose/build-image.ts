import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from './run-command.ts';

/** The image that all tests run. */
export const testImage = 'model-router:test';
/** The image with NATS and Redis. */
export const wholeImage = 'model-router:test-all';

const buildMs = 600_000;

/**
 * Builds the image as docs/configuration.md describes. Packages come from the registry of this machine's npm; its credentials are passed as
 * build secrets, which stay out of the image.
 * @param name the name that the image gets
 * @param target the Dockerfile's target
 */
export async function buildImage(name = testImage, target = 'image'): Promise<void> {
  const setting = async (name: string): Promise<string> =>
    (await runCommand('npm', ['config', 'get', name])).trim().replace(/^(?:null|undefined)$/, '');
  const folder = await mkdtemp(join(tmpdir(), 'rtr-build-'));
  try {
    const npmrc = join(folder, 'npmrc');
    await writeFile(npmrc, `registry=${await setting('registry')}\n`);
    const authority = process.env['NODE_EXTRA_CA_CERTS'] ?? (await setting('cafile'));
    const lent = [`id=npmrc,src=${npmrc}`, ...(existsSync(authority) ? [`id=ca,src=${authority}`] : [])];
    await runCommand(
      'docker',
      [
        'build',
        '-f',
        'deploy/Dockerfile',
        '--target',
        target,
        '-t',
        name,
        ...lent.flatMap((secret) => ['--secret', secret]),
        '.',
      ],
      { timeoutMs: buildMs, env: { DOCKER_BUILDKIT: '1' } },
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}
