import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tables, withTables } from './tables.ts';

const readme = readFileSync('README.md', 'utf8');

describe('the README', () => {
  it('has tables that tell what the code does (else run `npm run readme`)', () => {
    expect(readme).toBe(withTables(readme));
  });

  it('shows every table', () => {
    for (const name of Object.keys(tables)) expect(readme).toContain(`<!-- table ${name} -->`);
  });

  it('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    const named = [...readme.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name ?? '');
    for (const name of named) expect(Object.keys(scripts)).toContain(name);
  });
});
