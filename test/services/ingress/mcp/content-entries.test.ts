import { isSpecType } from '@modelcontextprotocol/client';
import { PromptSchema, ResourceSchema, ResourceTemplateSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { joinLists, readEntries, type ContentList } from '#services/ingress/mcp/content-entries.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { least } from '../../../helpers/least.ts';

const plain: Record<ContentList, JsonObject> = {
  prompts: { name: 'p' },
  resources: { name: 'r', uri: 'a:r' },
  resourceTemplates: { name: 't', uriTemplate: 'a:{x}' },
};
const lists = Object.keys(plain) as ContentList[];
const schemas = {
  prompts: [PromptSchema, 'Prompt'],
  resources: [ResourceSchema, 'Resource'],
  resourceTemplates: [ResourceTemplateSchema, 'ResourceTemplate'],
} as const;
const fields = [
  'name',
  'title',
  'description',
  'uri',
  'uriTemplate',
  'mimeType',
  'size',
  'annotations',
  'icons',
  'arguments',
  '_meta',
];
const values: Json[] = [
  7,
  'x',
  null,
  true,
  [],
  [7],
  [{}],
  {},
  [{ src: 'x' }],
  [{ src: 'x', theme: 'pink' }],
  [{ name: 'x' }],
  [{ name: 'x', required: 1 }],
  { priority: 7 },
  { audience: ['all'] },
  { lastModified: 'yesterday' },
];

describe('a list of a server', () => {
  it.each(lists)('has no entry of %s that MCP clients of either SDK refuse', (list) => {
    const odd = fields.flatMap((field) => values.map((value) => ({ ...plain[list], [field]: value })));
    const read = odd.flatMap((each) => readEntries(list, { [list]: [each] }).map(({ entry }) => entry));
    expect(read.length).toBeGreaterThan(odd.length / 4);
    const [older, newer] = schemas[list];
    expect(read.filter((entry) => !older.safeParse(entry).success || !isSpecType[newer](entry))).toEqual([]);
  });

  it.each(lists)('keeps the other entries of %s as the server sent them, each once', (list) => {
    const full = { ...plain[list], description: 'one\ntwo', _meta: { a: { b: 1 } }, further: [1] };
    const answer = { [list]: [7, null, {}, full, full, { ...plain[list], name: 7 }] };
    expect(readEntries(list, answer)).toEqual([{ entry: full, bytes: 128 }]);
    expect(readEntries(list, {})).toEqual([]);
    expect(readEntries(list, { [list]: { length: 1 } })).toEqual([]);
  });

  it('has no names that harm their readers, and no addresses that are not one line', () => {
    const strange = ['<script>', 'a\nb', '\u001b[2J', '__proto__', 'x'.repeat(3_000)];
    const prompts = strange.map((name) => ({ name }));
    expect(readEntries('prompts', { prompts })).toEqual([]);
    const resources = ['a\nb', 'a:\u001b[2J', 'x'.repeat(3_000), ''].map((uri) => ({ uri, name: 'x' }));
    expect(readEntries('resources', { resources })).toEqual([]);
    const [named] = readEntries('resources', {
      resources: [{ uri: 'a:b', name: 'a\u001b<b>\n', title: 'x'.repeat(999) }],
    });
    expect(named?.entry).toMatchObject({ name: 'a<b>', title: 'x'.repeat(200) });
  });

  it('has a thousand entries of 64 KiB, half a megabyte together, and none that cannot be written again', () => {
    const many = (description: string, count: number) =>
      Array.from({ length: count }, (_, at) => ({ name: `p${at}`, description }));
    expect(readEntries('prompts', { prompts: many('', 2_000) })).toHaveLength(1_000);
    expect(readEntries('prompts', { prompts: many('x'.repeat(70_000), 1) })).toEqual([]);
    expect(readEntries('prompts', { prompts: many('x'.repeat(60_000), 20) })).toHaveLength(8);
    const deep = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`) as JsonObject;
    expect(readEntries('prompts', { prompts: [{ name: 'deep', _meta: deep }] })).toEqual([]);
  });

  it('with hundreds of thousands of entries is read in less than 0.1 s', async () => {
    const answer = { prompts: Array.from({ length: 400_000 }, () => ({})) };
    const measure = (): Promise<number> => {
      const begin = performance.now();
      readEntries('prompts', answer);
      return Promise.resolve(performance.now() - begin);
    };
    expect(await least(measure, 100)).toBeLessThan(100);
  });
});

it('the lists of all servers have four megabytes together: small ones stay whole, the largest lose their ends', () => {
  const listOf = (name: string, count: number) =>
    Array.from({ length: count }, (_, at) => ({ entry: `${name}${at}`, bytes: 64 * 1024 }));
  const joined = joinLists([listOf('small', 3), ...Array.from({ length: 20 }, (_, at) => listOf(`large${at}-`, 8))]);
  expect(joined.filter(({ entry }) => entry.startsWith('small'))).toHaveLength(3);
  expect(joined).toHaveLength(3 + 20 * 3);
  expect(joinLists([listOf('a', 2), listOf('b', 1)]).map(({ entry }) => entry)).toEqual(['a0', 'a1', 'b0']);
});
