import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the built programs, below the project's. */
export const programsFolder = 'dist';

/** The source file in which each program begins. */
export const programs = {
  ingress: 'services/ingress/main.ts',
  'gpu-worker': 'services/gpu-worker/main.ts',
  'cli-worker': 'services/cli-worker/main.ts',
  'cloud-worker': 'services/cloud-worker/main.ts',
  'tools-worker': 'services/tools-worker/main.ts',
  'batch-runner': 'services/batch-runner/main.ts',
  'demo-engine': 'services/demo-engine/main.ts',
  rtr: 'services/rtr/main.ts',
  'prepare-compose': 'deploy/compose/prepare.ts',
};

/** Packages that are not built into the programs: native code, and packages that find files of their own beside their code. */
export const packagesBeside = ['argon2', 'pino', 'pino-pretty', 'swagger-ui-dist'];

/** Returns a digest of everything that a build depends on: the sources, and the versions of all packages. */
export function programsStamp(root: string): string {
  const digest = createHash('sha256');
  const sources = globSync('{services,shared,deploy/compose}/**/*.{ts,mjs}', {
    cwd: root,
    exclude: ['services/console/web/**'],
  });
  for (const file of sources.sort()) digest.update(`\n${file}\n`).update(readFileSync(join(root, file)));
  return digest.update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
}
