import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import config from '../../vitest.config.ts';

interface Project {
  test: { name: string; include: string[]; exclude?: string[] };
}

it('every test file belongs to a project, so that it runs', () => {
  const projects = config.test?.projects as unknown as Project[];
  const run = new Set(projects.flatMap(({ test: { include, exclude = [] } }) => globSync(include, { exclude })));
  expect(globSync('test/**/*.test.ts').filter((file) => !run.has(file))).toEqual([]);
});
