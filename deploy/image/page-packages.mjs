import { globSync, readFileSync } from 'node:fs';

/*
 * Prints the dependencies that no source of a service names. Only the console's pages and their build need them, so they can be removed
 * after the build.
 */

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const sources = globSync('{services,shared}/**/*.{ts,mjs}', {
  exclude: ['services/console/web/**', 'services/console/build/**'],
}).map((file) => readFileSync(file, 'utf8'));
/** @param {string} name */
const isNamed = (name) => sources.some((source) => source.includes(`'${name}'`) || source.includes(`'${name}/`));
process.stdout.write(
  `${Object.keys(dependencies)
    .filter((name) => !isNamed(name))
    .join(' ')}\n`,
);
