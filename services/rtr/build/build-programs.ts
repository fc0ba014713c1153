import { dirname, join, relative, sep } from 'node:path';
import { rolldown, type Plugin } from 'rolldown';
import { buildFolder, isBuilt } from '#shared/core/built-folder.ts';
import { packagesBeside, programs, programsFolder, programsStamp } from './programs.ts';

/** Modules of this project that only build. The programs name them, and images do not contain them. */
const builders = /(?:^|\/)build\/build-(?:programs|pages)\.ts$/;

/**
 * Builds all programs of the product, with the packages that they use, into few files of JavaScript, unless they are up to date. A built
 * program starts in two thirds of the processor time that its sources need.
 * @param root the project's folder
 */
export async function buildPrograms(root: string): Promise<void> {
  const [folder, stamp] = [join(root, programsFolder), programsStamp(root)];
  if (isBuilt(folder, stamp)) return;
  await buildFolder(folder, stamp, async (draft) => {
    const bundle = await rolldown({
      input: Object.fromEntries(Object.entries(programs).map(([name, file]) => [name, join(root, file)])),
      platform: 'node',
      external: (id) => packagesBeside.some((name) => id === name || id.startsWith(`${name}/`)),
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
      // CommonJS packages read these.
      banner: 'const __dirname = import.meta.dirname, __filename = import.meta.filename;',
    });
    await bundle.close();
  });
}

/**
 * Makes `import.meta` of each source file mean the source file, where its Lua scripts and data are. A module that a source file names by
 * `new URL('<file>.ts', import.meta.url)`, such as that of a thread, is built, too, and the URL is that of the built file.
 */
function keepLocations(root: string): Plugin {
  const from = (file: string): string => relative(join(root, programsFolder), file).split(sep).join('/');
  return {
    name: 'keep-locations',
    resolveId: {
      filter: { id: builders },
      handler: (id, importer = root) => ({ id: from(join(dirname(importer), id)), external: true }),
    },
    transform: {
      filter: { code: /\bimport\.meta\.(?:url|dirname|filename)\b/ },
      handler(code, id) {
        if (id.startsWith('\0')) return undefined;
        const withModules = code.replaceAll(
          /new URL\(\s*'([^']+\.ts)',\s*import\.meta\.url,?\s*\)/g,
          (_, file: string) => {
            const path = join(dirname(id), file);
            const reference = this.emitFile({ type: 'chunk', id: path });
            return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`;
          },
        );
        const url = `new URL(${JSON.stringify(from(id))}, import.meta.url).href`;
        const path = (file: string): string =>
          `process.getBuiltinModule('node:path').join(import.meta.dirname, ${JSON.stringify(from(file))})`;
        return withModules
          .replaceAll(/\bimport\.meta\.url\b/g, url)
          .replaceAll(/\bimport\.meta\.dirname\b/g, path(dirname(id)))
          .replaceAll(/\bimport\.meta\.filename\b/g, path(id));
      },
    },
  };
}
