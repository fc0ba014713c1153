import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it, describe } from 'vitest';
import { version } from '#shared/core/version.ts';
import { parse } from 'yaml';
import { readChangelog } from './changelog.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

describe('the version', () => {
  it('is the same in all files that state it', () => {
    const lock = JSON.parse(read('package-lock.json')) as { version: string; packages: Record<string, object> };
    expect(lock).toMatchObject({ version, packages: { '': { version } } });
    expect(JSON.parse(read('services/rtr/client/package.json'))).toMatchObject({ version });
    expect(parse(read('deploy/kubernetes/model-router/Chart.yaml'))).toMatchObject({ version, appVersion: version });
    expect(/^ARG VERSION=(.*)$/m.exec(read('deploy/Dockerfile'))?.[1]).toBe(version);
  });

  it('is what `rtr --version` prints, as a part of the project and as a client alone', () => {
    for (const program of ['services/rtr/main.ts', 'services/rtr/client/rtr.mjs'])
      expect(execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' })).toBe(`${version}\n`);
  });

  it('has a section with a date in the changelog, below what is not released yet', () => {
    const [unreleased, newest, ...older] = readChangelog();
    expect(unreleased).toMatchObject({ version: 'Unreleased', date: undefined });
    expect(newest).toMatchObject({ version, date: expect.any(String) as string });
    expect(older.filter(({ date }) => date === undefined)).toEqual([]);
  });

  it('stands in the commands of the documentation', () => {
    const tags = Array.from(read('docs/operations.md').matchAll(/model-router:(\d[\w.-]*)/g), ([, tag]) => tag);
    expect(new Set(tags)).toEqual(new Set([version]));
  });
});
