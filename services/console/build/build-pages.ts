import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { build } from 'vite';
import { buildFolder } from '#shared/core/built-folder.ts';
import { pagesFolder, pagesSource, computePagesStamp } from './pages-stamp.ts';

/** A file of fewer bytes is not compressed, because it fits one packet anyway. */
const smallBytes = 1_400;

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
    await compressAll(draft);
  });
}

async function compressAll(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && /\.(?:js|css|svg)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  await Promise.all(
    files.map(async (file) => {
      const content = await readFile(file);
      if (content.length < smallBytes) return;
      const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
      await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }));
      await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
    }),
  );
}
