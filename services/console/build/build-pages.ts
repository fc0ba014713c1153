import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { build } from 'vite';
import { buildFolder } from '#shared/core/built-folder.ts';
import { compressFiles } from './compress-files.ts';
import { pagesFolder, pagesSource, computePagesStamp } from './pages-stamp.ts';

/**
 * Builds the console's pages, each file plain and compressed, and then replaces the served folder as a whole.
 * @param root the project's folder
 */
export async function buildPages(root: string): Promise<void> {
  await buildFolder(join(root, pagesFolder), computePagesStamp(root), async (draft) => {
    await build({
      root: join(root, pagesSource),
      configFile: false,
      mode: 'production',
      logLevel: 'error',
      plugins: [react()],
      build: {
        outDir: draft,
        target: 'es2023',
        // An inlined file would need another source than 'self' in the page's policy.
        assetsInlineLimit: 0,
        // All browsers that can run these pages support module preloading.
        modulePreload: { polyfill: false },
        rolldownOptions: { onLog: (level, log, report) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log) },
      },
    });
    await compressFiles(draft);
  });
}
