import { isSpecType } from '@modelcontextprotocol/client';
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, it } from 'vitest';
import { decodeAnnouncement } from '#shared/broker/contract/announcement.ts';
import { announcementOf } from '../../../helpers/broker/announcement.ts';

const object = { type: 'object' };
const values = [7, 'x', null, true, [7], ['x'], {}, { x: 7 }, { title: 7 }, { readOnlyHint: 'x' }];

/** Values of each field with which MCP clients refuse a whole list of tools, and others with which they do not. */
const odd: object[] = [
  ...['title', 'description', 'inputSchema', 'outputSchema', 'annotations'].flatMap((field) =>
    values.map((value) => ({ [field]: value })),
  ),
  ...['inputSchema', 'outputSchema'].flatMap((field) =>
    ['type', 'properties', 'required'].flatMap((part) =>
      values.map((value) => ({ [field]: { ...object, [part]: value } })),
    ),
  ),
];

it('every tool of an announcement that is kept can be in a list of MCP clients of both SDKs', () => {
  const tools = odd.map((fields, at) => ({ name: `odd-${at}`, description: 'x', inputSchema: object, ...fields }));
  const read = decodeAnnouncement(Buffer.from(JSON.stringify({ ...announcementOf({ tier: 'tools' }), tools })));
  const kept = read?.tools ?? [];
  expect(kept.length).toBeGreaterThan(40);
  const refused = kept.filter((tool) => {
    const list = { tools: [tool] };
    return !isSpecType.ListToolsResult(list) || !ListToolsResultSchema.safeParse(list).success;
  });
  expect(refused).toEqual([]);
});

it('a tool loses annotations and an output schema that MCP clients refuse, and nothing else', () => {
  const tool = { name: 't', description: 'x', inputSchema: object, title: 'T' };
  const refused = { outputSchema: { type: 'string' }, annotations: { readOnlyHint: 'yes' } };
  const announced = { ...announcementOf({ tier: 'tools' }), tools: [{ ...tool, ...refused }] };
  expect(decodeAnnouncement(Buffer.from(JSON.stringify(announced)))?.tools).toEqual([tool]);
});

it('the boolean schemas of properties, which MCP clients refuse, are written as objects', () => {
  const inputSchema = { ...object, properties: { any: true, none: false, x: object } };
  const announced = { ...announcementOf({ tier: 'tools' }), tools: [{ name: 't', description: 'x', inputSchema }] };
  const [read] = decodeAnnouncement(Buffer.from(JSON.stringify(announced)))?.tools ?? [];
  expect(read?.inputSchema).toEqual({ ...object, properties: { any: {}, none: { not: {} }, x: object } });
});
