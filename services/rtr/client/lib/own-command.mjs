import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment } from './environment.mjs';
import { isObject, parseObject } from './json-object.mjs';
import { quoteShellWord } from './programs/shell-word.mjs';

/**
 * Returns the command with which the person has called this program, for sentences that name a further command: `npx rtr` in the project,
 * `npx <package>` if npx has fetched the package for this call, otherwise `rtr`.
 * @param {string} [file] a file of this program
 * @param {Record<string, string | undefined>} [variables] of the environment
 */
export function findOwnCommand(file = fileURLToPath(import.meta.url), variables = environment) {
  const [, cache] = /^(.*[\\/]_npx[\\/][^\\/]+)[\\/]node_modules[\\/]/.exec(file) ?? [];
  const fetchedPackage = cache === undefined ? undefined : readFetchedPackage(join(cache, 'package.json'));
  if (fetchedPackage !== undefined) return `npx ${quoteShellWord(fetchedPackage)}`;
  // npm sets this variable: the command of npx in quotes, or the text of the script that npm runs.
  const script = variables['npm_lifecycle_script'] ?? '';
  return /^'?rtr\b|\brtr\/bootstrap\.mjs\b/.test(script) ? 'npx rtr' : 'rtr';
}

/**
 * Returns the package of a folder in the cache of npx, as the person has named it; undefined if the file cannot be read.
 * @param {string} path
 */
function readFetchedPackage(path) {
  try {
    const npx = parseObject(readFileSync(path, 'utf8'))['_npx'];
    const [first] = isObject(npx) && Array.isArray(npx['packages']) ? npx['packages'] : [];
    return typeof first === 'string' ? first : undefined;
  } catch {
    return undefined;
  }
}
