import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import config from '../vitest.config.ts';

const root = join(import.meta.dirname, '..');
const quick = findIn({ exclude: ['test/{long,compose,bench}/**'] });
const outsideOfChaos = findIn({ exclude: ['test/chaos/**'] });
const all = findIn({});

describe('the tests', () => {
  it('wait with `until`', () => {
    expect(all(/\b(?:expect\s*\.poll|vi\.waitFor|vi\.waitUntil)\(/g)).toEqual([]);
    expect(all(/\bawait until\(/g).length).toBeGreaterThan(100);
  });

  it('of the quick suite sleep for a second at most', () => {
    const sleeps = quick(/\b(?:sleep\(|setTimeout\(resolve, )(?<ms>[\d_]+)\)/g);
    expect(sleeps.length).toBeGreaterThan(10);
    expect(sleeps.filter(({ ms }) => ms > 1_000)).toEqual([]);
  });

  it('belong to a suite, and are found by every pattern of the suites', () => {
    const suites = (config.test?.projects ?? []).flatMap((project) =>
      typeof project === 'object' && 'test' in project && project.test ? [project.test] : [],
    );
    const patterns = suites.flatMap(({ include = [] }) => include);
    expect(patterns.length).toBeGreaterThan(3);
    expect(patterns.filter((pattern) => globSync(pattern, { cwd: root }).length === 0)).toEqual([]);
    const files = suites.flatMap(({ include = [], exclude = [] }) => globSync(include, { cwd: root, exclude }));
    const run = new Set(files);
    expect(globSync('test/**/*.test.ts', { cwd: root }).filter((file) => !run.has(file))).toEqual([]);
  });

  it('watch what a part does from outside', () => {
    // Command is the library's, Hash is Node's.
    expect(all(/\bspyOn\((?!(?:Command|Hash)\b)[\w.]+\.prototype\b|\.prototype\.\w+ = |\bvi\.mock\(/g)).toEqual([]);
  });

  it('give a part what it needs, and write nothing into it', () => {
    expect(all(/\.(?:publish|subscribe|hasRefused|onHeartbeat|onRequestStart|nc\.\w+|job\.give) = /g)).toEqual([]);
  });

  it('say with tags what they need of the machine', () => {
    expect(outsideOfChaos(/\b(?:skipIf|runIf)\(/g)).toEqual([]);
  });
});

/** A search in the test files, for places of a pattern and the milliseconds that it captures. */
function findIn({
  exclude = [],
}: {
  exclude?: string[];
}): (pattern: RegExp) => { file: string; line: number; ms: number }[] {
  const files = globSync('test/**/*.{ts,mjs}', { cwd: root, exclude: [...exclude, 'test/test-rules.test.ts'] });
  const texts = files.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
  return (pattern) =>
    texts.flatMap(({ file, text }) =>
      Array.from(text.matchAll(pattern), ({ index, groups }) => ({
        file,
        line: text.slice(0, index).split('\n').length,
        ms: Number(groups?.['ms']?.replaceAll('_', '')),
      })),
    );
}
