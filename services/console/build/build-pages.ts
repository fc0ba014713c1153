import { chmod, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { build } from 'vite';
import { pagesFolder, pagesSource, pagesStamp, stampFile } from './pages-stamp.ts';

/** Files below this size are sent as they are: to compress them saves no packet. */
const smallBytes = 1_400;

/**
 * Builds the console's pages, each file also in compressed form, and puts them where the ingress serves them from: all at
 * once, when they are complete.
 * @param root folder of the project
 */
export async function buildPages(root: string): Promise<void> {
  const stamp = pagesStamp(root);
  const draft = await mkdtemp(join(root, pagesSource, '.dist-'));
  try {
    await build({
      root: join(root, pagesSource),
      configFile: false,
      mode: 'production',
      logLevel: 'error',
      plugins: [react()],
      build: {
        outDir: draft,
        target: 'es2023',
        // A file in a style or page would need another source than 'self' in the policy.
        assetsInlineLimit: 0,
        // The browsers that can run these pages load modules ahead by themselves.
        modulePreload: { polyfill: false },
        rolldownOptions: { onLog: (level, log, tell) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && tell(level, log) },
      },
    });
    await compressAll(draft);
    await writeFile(join(draft, stampFile), stamp);
    // A draft is made for its maker's eyes only; who serves the pages may be somebody else.
    await chmod(draft, 0o755);
    await replaceFolder(draft, join(root, pagesFolder));
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
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

/** Two renames: whoever reads in between finds nothing and looks again. */
async function replaceFolder(draft: string, folder: string): Promise<void> {
  const old = `${draft}-old`;
  try {
    await rename(folder, old);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  await rename(draft, folder);
  await rm(old, { recursive: true, force: true });
}
