import { join } from 'node:path';
import { isInstalledPackage } from '#shared/core/installed-package.mjs';

/**
 * Returns the file of a service's program: in a checkout its source, in an installed package the built one, because Node strips no types
 * below `node_modules`.
 * @param root folder of the project
 * @param service such as `gpu-worker`
 */
export function findServiceProgram(root: string, service: string): string {
  return isInstalledPackage(root) ? join(root, 'dist', `${service}.mjs`) : join(root, 'services', service, 'main.ts');
}
