import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSource } from '../helpers/read-source.ts';
import { requestPath } from './tables/request-path.ts';

/** The project's files that a file imports, types included. */
function importsOf(file: string): string[] {
  return readSource(file).imports.map((to) => (to.startsWith('#') ? to.slice(1) : normalize(join(dirname(file), to))));
}

describe('the path of a streamed chat completion', () => {
  it('has 40 files at most, each of which exists, stands once, and has 300 lines at most', () => {
    const files = requestPath.map(({ file }) => file);
    expect(files.length).toBeLessThanOrEqual(40);
    expect(new Set(files).size).toBe(files.length);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    expect(files.filter((file) => readFileSync(file, 'utf8').split('\n').length > 301)).toEqual([]);
  });

  it('tells the job of each in eight words at most', () => {
    const tooLong = requestPath.filter(({ job }) => job.split(' ').length > 8 || job === '');
    expect(tooLong).toEqual([]);
  });

  it('leads from file to file: each is imported by one that stands before it', () => {
    const before = new Set<string>();
    const unreached = requestPath.filter(({ file, reachedBy }, at) => {
      const isReached = before.has(file);
      for (const imported of importsOf(file)) before.add(imported);
      return at > 0 && isReached === (reachedBy !== undefined);
    });
    expect(unreached).toEqual([]);
  });
});
