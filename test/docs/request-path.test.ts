import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSource } from '../helpers/read-source.ts';
import { requestPath } from './tables/request-path.ts';

/** The project's files that a file imports, types included. */
function importsOf(file: string): string[] {
  return readSource(file).imports.map((to) => (to.startsWith('#') ? to.slice(1) : normalize(join(dirname(file), to))));
}

const steps = requestPath.flatMap((layer) => layer.steps);

describe('the path of a streamed chat completion', () => {
  it('begins with ten files for the idea, and each of its files exists and stands once', () => {
    const files = steps.map(({ file }) => file);
    expect(requestPath[0]?.steps).toHaveLength(10);
    expect(new Set(files).size).toBe(files.length);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('describes the job of each file in eight words at most', () => {
    expect(steps.filter(({ job }) => job.split(' ').length > 8 || job === '')).toEqual([]);
  });

  it('leads from file to file: each is imported by one that stands before it, or is marked as reached in another way', () => {
    const before = new Set<string>();
    const unreached = steps.filter(({ file, reachedBy }, at) => {
      const isReached = before.has(file);
      for (const imported of importsOf(file)) before.add(imported);
      return at > 0 && isReached === (reachedBy !== undefined);
    });
    expect(unreached).toEqual([]);
  });
});
