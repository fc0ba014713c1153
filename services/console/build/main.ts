import { join } from 'node:path';
import { pagesAreBuilt } from './pages-stamp.ts';

/** `npm run build`: builds the console's pages, unless they are built already. */

const root = join(import.meta.dirname, '..', '..', '..');

if (!pagesAreBuilt(root)) {
  const { buildPages } = await import('./build-pages.ts');
  await buildPages(root);
}
process.stdout.write('The console is built.\n');
