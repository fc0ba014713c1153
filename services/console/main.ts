import { join } from 'node:path';
import { arePagesBuilt } from './build/pages-stamp.ts';

/** `npm run build`: builds the console's pages unless they are up to date. The ingress serves them. */

const root = join(import.meta.dirname, '..', '..');

if (!arePagesBuilt(root)) {
  // Without this, React and other packages are bundled with their development checks.
  process.env['NODE_ENV'] = 'production';
  const { buildPages } = await import('./build/build-pages.ts');
  await buildPages(root);
}
process.stdout.write('The console is built.\n');
