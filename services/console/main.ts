import { join } from 'node:path';
import { pagesAreBuilt } from './build/pages-stamp.ts';

/** `npm run build`: builds the console's pages, unless they are built already. What serves them is the ingress. */

const root = join(import.meta.dirname, '..', '..');

if (!pagesAreBuilt(root)) {
  // The libraries look here, and else would be built with all that they only need while pages are being written.
  process.env['NODE_ENV'] = 'production';
  const { buildPages } = await import('./build/build-pages.ts');
  await buildPages(root);
}
process.stdout.write('The console is built.\n');
