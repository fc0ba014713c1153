import { globSync, readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildFolder } from '#shared/core/built-folder.ts';
import { externalPackages, programsFolder } from './programs.ts';

/** Folder of the staged package, relative to the project's folder. */
export const packageFolder = 'dist-package';

/** Files of the project that the package contains unchanged, at the same paths: programs find their data files relative to themselves. */
const files = [
  `${programsFolder}/*.mjs`,
  'services/console/web/dist/**',
  'docs/site/dist/**',
  '{services,shared}/**/*.lua',
  'shared/accounts/prices/shipped-prices.json',
  'services/rtr/bootstrap.mjs',
  'services/rtr/bootstrap/*.mjs',
  'services/rtr/client/**',
  'shared/core/*.mjs',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
];

/** Packages that are needed only to compile or to install the package that names them. */
const installPackages = new Set(['cross-env', 'node-addon-api', '@scarf/scarf']);

/** Files of packages that no program loads: documentation, types, sources in other languages, tests, and other builds of Swagger UI. */
const unneededFiles =
  /\.(?:md|map|[cm]?ts|[ch]|cpp|gyp|ya?ml|tgz|sh|html|ico)$|\/\.|\/(?:test|tests|docs|examples?|benchmarks?|benchmark-results)(?:\/|$)|\/swagger-ui-dist\/(?!swagger-ui-bundle\.)[^/]*\.(?:js|png|txt)$|\/index\.css$/;

interface Manifest {
  name: string;
  version: string;
  description: string;
  license: string;
  dependencies?: Record<string, string>;
}

/**
 * Collects what an installed router consists of in a folder that npm can pack and install: the built programs and pages, their data files,
 * and the packages that are not bundled into the programs. These packages are in the package too, exactly as the lock file names them, so
 * that an installation fetches nothing else and runs no scripts.
 * @param root the project's folder, with built programs and pages
 * @returns the folder of the package
 */
export async function stagePackage(root: string): Promise<string> {
  const folder = join(root, packageFolder);
  await buildFolder(folder, readManifest(root).version, async (draft) => {
    for (const file of globSync(files, { cwd: root, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const source = join(file.parentPath, file.name);
      const target = join(draft, source.slice(root.length));
      await mkdir(dirname(target), { recursive: true });
      await cp(source, target);
    }
    const packages = findPackages(root);
    for (const name of packages)
      await stageDependency(join(root, 'node_modules', name), join(draft, 'node_modules', name));
    await writeFile(join(draft, 'package.json'), formatJson(createManifest(root, packages)));
  });
  return folder;
}

/** Returns the names of the packages that are not bundled, and of all packages that they use. */
function findPackages(root: string): string[] {
  const found = new Set<string>();
  const add = (name: string): void => {
    if (found.has(name) || installPackages.has(name)) return;
    found.add(name);
    Object.keys(readManifest(join(root, 'node_modules', name)).dependencies ?? {}).forEach(add);
  };
  externalPackages.forEach(add);
  return [...found].sort();
}

/** Copies a package without its scripts and without what its programs do not need. */
async function stageDependency(source: string, target: string): Promise<void> {
  await cp(source, target, {
    recursive: true,
    filter: (file) => !unneededFiles.test(file.slice(dirname(source).length)),
  });
  const { dependencies = {}, ...manifest } = readManifest(source);
  for (const key of ['scripts', 'devDependencies']) Reflect.deleteProperty(manifest, key);
  const used = Object.entries(dependencies).filter(([name]) => !installPackages.has(name));
  await writeFile(join(target, 'package.json'), formatJson({ ...manifest, dependencies: Object.fromEntries(used) }));
}

function createManifest(root: string, packages: readonly string[]): object {
  const { version, description, license } = readManifest(root);
  const versionOf = (name: string): string => readManifest(join(root, 'node_modules', name)).version;
  return {
    name: '@model-router/rtr',
    version,
    description,
    license,
    type: 'module',
    bin: { rtr: 'services/rtr/bootstrap.mjs' },
    engines: { node: '>=20' },
    dependencies: Object.fromEntries(packages.map((name) => [name, versionOf(name)])),
    bundleDependencies: packages,
    // The Node that runs the programs where the machine has an older one.
    config: { node: readLockedVersion(root, 'node') },
  };
}

function readLockedVersion(root: string, name: string): string {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string }>;
  };
  const locked = packages[`node_modules/${name}`];
  if (!locked) throw new Error(`package-lock.json lacks ${name}`);
  return locked.version;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

function formatJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
