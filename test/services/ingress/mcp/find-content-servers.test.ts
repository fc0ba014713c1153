import { expect, it } from 'vitest';
import { findContentServers, type ListedAddresses } from '#services/ingress/mcp/find-content-servers.ts';

const list = (server: string, resources: string[] = [], templates: string[] = []): ListedAddresses => ({
  server,
  resources,
  templates,
});
const wiki = list('wiki', ['wiki:home'], ['wiki:pages/{page}', 'wiki:pages/archive/{page}']);
const notes = list('notes', ['note:1', 'wiki:home'], ['note:{number}', '{+any}']);
const others = ['a', 'b', 'c', 'd', 'e', 'f'].map((server) => list(server));

it.each([
  ['is listed', 'note:1', ['notes']],
  ['is listed by several servers', 'wiki:home', ['wiki', 'notes']],
  ['is a template', 'wiki:pages/{page}', ['wiki']],
  ['fits a template', 'note:7', ['notes']],
  ['is not listed, and has the scheme of a server', 'wiki:unlisted', ['wiki', 'notes', 'a', 'b']],
  ['is like none', 'file:///etc/passwd', ['a', 'b', 'c', 'd']],
  ['has no scheme', 'x', ['a', 'b', 'c', 'd']],
])('an address that %s is looked for at few servers', (_, uri, expected) => {
  expect(findContentServers(uri, [...others, wiki, notes])).toEqual(expected);
});

it('of the templates that an address fits, those with the longest beginning count', () => {
  const broad = list('broad', [], ['wiki:{+path}']);
  expect(findContentServers('wiki:pages/archive/1', [broad, wiki])).toEqual(['wiki']);
  expect(findContentServers('wiki:elsewhere', [broad, wiki])).toEqual(['broad']);
});

it('a template that would take for ever to compare holds up nothing', () => {
  const costly = list(
    'costly',
    [],
    Array.from({ length: 1_000 }, () => `a:${'{a}'.repeat(600)}b`),
  );
  const begin = performance.now();
  expect(findContentServers(`a:${'x'.repeat(2_000)}`, [costly])).toEqual(['costly']);
  expect(performance.now() - begin).toBeLessThan(100);
});
