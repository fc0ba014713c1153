import { describe, expect, it } from 'vitest';
import { nameTools, type ToolSource } from '#services/tools-worker/name-tools.ts';
import type { Tool } from '#services/tools-worker/tool.ts';

function source(prefix: string | undefined, names: string[], available = true, server = prefix): ToolSource {
  const run = () => Promise.reject(new Error('not run here'));
  const tools = names.map((name): Tool => ({
    name,
    description: `${name} of ${prefix ?? 'own'}`,
    inputSchema: {},
    run,
  }));
  return { prefix, server, tools, available };
}

function namesOf(...sources: ToolSource[]): Record<string, string> {
  const { named } = nameTools(sources);
  return Object.fromEntries([...named.values()].map(({ name, tool }) => [name, tool.description]));
}

describe('the names of tools', () => {
  it('are their own as long as they are unique', () => {
    expect(namesOf(source(undefined, ['time']), source('a', ['search']), source('b', ['find']))).toEqual({
      time: 'time of own',
      search: 'search of a',
      find: 'find of b',
    });
  });

  it('include the server that they belong to', () => {
    const { named } = nameTools([source(undefined, ['time']), source('my-wiki', ['find'], true, 'my wiki')]);
    expect([...named.values()].map(({ server }) => server)).toEqual([undefined, 'my wiki']);
  });

  it('get the prefix of their server when several servers have them', () => {
    expect(namesOf(source('a', ['search', 'x']), source('b', ['search']))).toEqual({
      a_search: 'search of a',
      b_search: 'search of b',
      x: 'x of a',
    });
  });

  it('stay with the source that has no prefix', () => {
    expect(namesOf(source(undefined, ['time']), source('a', ['time']))).toEqual({
      time: 'time of own',
      a_time: 'time of a',
    });
  });

  it('stay the same while a server is not available', () => {
    const { named } = nameTools([source('a', ['search']), source('b', ['search'], false)]);
    expect([...named.values()].map(({ name, available }) => [name, available])).toEqual([
      ['a_search', true],
      ['b_search', false],
    ]);
  });

  it('belong to the first tool when the prefix does not make them unique', () => {
    const own = source(undefined, ['time']);
    const { named, dropped } = nameTools([own, own, source('a', ['x', 'x'])]);
    expect([...named.keys()]).toEqual(['time', 'x']);
    expect(dropped).toEqual(['time', 'x']);
  });

  it('are made valid for all formats, and keep the original names beside', () => {
    const { named } = nameTools([source('a', ['files.read', 'list']), source('b.c', ['list', 'x y'])]);
    expect([...named.values()].map(({ name, givenName }) => [name, givenName])).toEqual([
      ['files_read', 'files.read'],
      ['a_list', undefined],
      ['b_c_list', 'b.c_list'],
      ['x_y', 'x y'],
    ]);
  });
});
