import { join } from 'node:path';
import { pagesAreBuilt } from './build/pages-stamp.ts';

/** `npm run build`: builds the console's pages, which the ingress serves, unless they are up to date. */

const root = join(import.meta.dirname, '..', '..');

if (!pagesAreBuilt(root)) {
  // Without this, React and other packages are bundled with their development checks.
  process.env['NODE_ENV'] = 'production';
  const { buildPages } = await import('./build/build-pages.ts');
  await buildPages(root);
}
process.stdout.write('The console is built.\n');
