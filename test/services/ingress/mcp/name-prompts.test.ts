import { expect, it } from 'vitest';
import { namePrompts } from '#services/ingress/mcp/name-prompts.ts';

/** Names the prompts of servers, and returns the given names with the server and the own name of each. */
function nameAll(prompts: readonly (readonly [server: string, ownName: string, isTrusted?: boolean])[]) {
  const all = prompts.map(([name, ownName, isTrusted = false]) => ({
    server: { name, isTrusted },
    ownName,
    prompt: { name: ownName },
  }));
  return Object.fromEntries(
    namePrompts(all).map(({ server, ownName, prompt }) => [prompt.name, [server.name, ownName]]),
  );
}

it('a name of several servers gets the name of its server as a prefix', () => {
  const named = nameAll([
    ['wiki', 'find'],
    ['no tes', 'find'],
    ['notes', 'list'],
  ]);
  expect(named).toEqual({ wiki_find: ['wiki', 'find'], 'no-tes_find': ['no tes', 'find'], list: ['notes', 'list'] });
});

it('a prompt of a trusted server keeps its name, whatever other servers list', () => {
  const named = nameAll([
    ['wiki', 'find', true],
    ['aaa', 'find'],
    ['aaa', 'b'],
    ['wiki', 'aaa_b', true],
    ['bbb', 'b'],
  ]);
  expect(named).toEqual({
    find: ['wiki', 'find'],
    aaa_find: ['aaa', 'find'],
    aaa_b: ['wiki', 'aaa_b'],
    bbb_b: ['bbb', 'b'],
  });
});

it('a prompt named like the prefixed one of another server does not replace it', () => {
  expect(
    nameAll([
      ['a', 'wiki_find'],
      ['wiki', 'find'],
      ['notes', 'find'],
    ]),
  ).toEqual({
    wiki_find: ['wiki', 'find'],
    notes_find: ['notes', 'find'],
  });
});
