import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildFolder, isBuilt } from '#shared/core/built-folder.ts';
import { compressFiles } from './compress-files.ts';
import { docsFolder } from './pages-stamp.ts';
import { readDocsPages, type DocsFile } from './docs-pages.ts';

const run = promisify(execFile);

/** The folder of the generator's settings and of its exact version, relative to the project's folder. */
const siteSource = join('docs', 'site');

/** The generator's packages and the sources that it reads. They are outside of the sources, where searches would find the packages. */
const workFolder = join('.rtr', 'docs-site');

/**
 * Builds the documentation's site unless it is up to date. The first build installs the generator.
 * @param root the project's folder
 * @throws Error with the generator's output, for instance about a link to a page that does not exist
 */
export async function buildDocs(root: string): Promise<void> {
  const files = readDocsPages(root);
  const stamp = computeStamp(root, files);
  if (isBuilt(join(root, docsFolder), stamp)) return;
  const work = join(root, workFolder);
  await installGenerator(root, work);
  rmSync(join(work, 'pages'), { recursive: true, force: true });
  for (const { path, content } of files) {
    mkdirSync(dirname(join(work, 'pages', path)), { recursive: true });
    writeFileSync(join(work, 'pages', path), content);
  }
  const settings = join(work, '.vitepress');
  cpSync(join(root, siteSource, 'config.mjs'), join(settings, 'config.mjs'));
  cpSync(join(root, siteSource, 'theme.mjs'), join(settings, 'theme', 'index.mjs'));
  cpSync(join(root, siteSource, 'theme.css'), join(settings, 'theme', 'theme.css'));
  await buildFolder(join(root, docsFolder), stamp, async (draft) => {
    const generator = join(work, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
    await run(process.execPath, [generator, 'build', work, '--outDir', draft], { cwd: work });
    await compressFiles(draft);
  });
}

async function installGenerator(root: string, work: string): Promise<void> {
  mkdirSync(work, { recursive: true });
  const lock = readFileSync(join(root, siteSource, 'package-lock.json'), 'utf8');
  if (isBuilt(join(work, 'node_modules'), lock)) return;
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(root, siteSource, file), join(work, file));
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: work });
  writeFileSync(join(work, 'node_modules', 'stamp'), lock);
}

/** Computes a digest of everything that a build depends on. */
function computeStamp(root: string, files: readonly DocsFile[]): string {
  const digest = createHash('sha256');
  for (const { path, content } of files) digest.update(`\n${path}\n`).update(content);
  const own = globSync(['docs/site/*', 'services/console/build/{build-docs,compress-files}.ts'], { cwd: root });
  for (const file of own.filter((name) => /\.\w+$/.test(name)).toSorted())
    digest.update(`\n${file}\n`).update(readFileSync(join(root, file)));
  return digest.digest('hex');
}
