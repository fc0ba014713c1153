import { dirname, join, relative, sep } from 'node:path';
import { rolldown, type Plugin } from 'rolldown';
import { buildFolder, isBuilt } from '#shared/core/built-folder.ts';
import { externalPackages, programs, programsFolder, computeProgramsStamp } from './programs.ts';

/** The build modules. Built programs import them from the sources, only for `rtr build` and `rtr up`. Images do not contain them. */
const buildModules = /(?:^|\/)build\/build-(?:programs|pages)\.ts$/;

/**
 * Bundles all programs and the packages that they use into a few JavaScript files, unless the bundle is up to date. A bundled program needs
 * two thirds of the CPU time to start that its sources need.
 * @param root the project's folder
 */
export async function buildPrograms(root: string): Promise<void> {
  const [folder, stamp] = [join(root, programsFolder), computeProgramsStamp(root)];
  if (isBuilt(folder, stamp)) return;
  await buildFolder(folder, stamp, async (draft) => {
    const bundle = await rolldown({
      input: Object.fromEntries(Object.entries(programs).map(([name, file]) => [name, join(root, file)])),
      platform: 'node',
      external: (id) => externalPackages.some((name) => id === name || id.startsWith(`${name}/`)),
      plugins: [keepLocations(root)],
      onLog: (level, log, report) => {
        if (level === 'warn' && log.code !== 'EVAL') report(level, log);
      },
    });
    await bundle.write({
      dir: draft,
      format: 'esm',
      entryFileNames: '[name].mjs',
      chunkFileNames: 'part-[hash].mjs',
      // Bundled CommonJS packages read these variables.
      banner: 'const __dirname = import.meta.dirname, __filename = import.meta.filename;',
    });
    await bundle.close();
  });
}

/**
 * Makes `import.meta.url`, `dirname` and `filename` in bundled code refer to the source file, because Lua scripts and data files are beside
 * the sources. A module named by `new URL('<file>.ts', import.meta.url)`, such as the module of a worker thread, is bundled as a separate
 * file, and the URL refers to that file.
 */
function keepLocations(root: string): Plugin {
  const toRelativePath = (file: string): string => relative(join(root, programsFolder), file).split(sep).join('/');
  return {
    name: 'keep-locations',
    resolveId: {
      filter: { id: buildModules },
      handler: (id, importer = root) => ({ id: toRelativePath(join(dirname(importer), id)), external: true }),
    },
    transform: {
      filter: { code: /\bimport\.meta\.(?:url|dirname|filename)\b/ },
      handler(code, id) {
        if (id.startsWith('\0')) return undefined;
        const withModules = code.replaceAll(
          /new URL\(\s*'([^']+\.ts)',\s*import\.meta\.url,?\s*\)/g,
          (_, file: string) => {
            const modulePath = join(dirname(id), file);
            const reference = this.emitFile({ type: 'chunk', id: modulePath });
            return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`;
          },
        );
        const urlCode = `new URL(${JSON.stringify(toRelativePath(id))}, import.meta.url).href`;
        const toPathCode = (file: string): string =>
          `process.getBuiltinModule('node:path').join(import.meta.dirname, ${JSON.stringify(toRelativePath(file))})`;
        return withModules
          .replaceAll(/\bimport\.meta\.url\b/g, urlCode)
          .replaceAll(/\bimport\.meta\.dirname\b/g, toPathCode(dirname(id)))
          .replaceAll(/\bimport\.meta\.filename\b/g, toPathCode(id));
      },
    },
  };
}
