import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the built programs, relative to the project's folder. */
export const programsFolder = 'dist';

/** The entry file of each program, relative to the project's folder. */
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

/** Packages that are not bundled: packages with native code, and packages that load files from their own folder. */
export const externalPackages = ['argon2', 'pino', 'pino-pretty', 'swagger-ui-dist'];

/** Computes a digest of everything that a build depends on: the sources and the versions of all packages. */
export function computeProgramsStamp(root: string): string {
  const digest = createHash('sha256');
  const sources = globSync('{services,shared,deploy/compose}/**/*.{ts,mjs}', {
    cwd: root,
    exclude: ['services/console/web/**'],
  });
  for (const file of sources.sort()) digest.update(`\n${file}\n`).update(readFileSync(join(root, file)));
  return digest.update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
}
