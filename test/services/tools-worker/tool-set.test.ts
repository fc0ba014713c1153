import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { ToolSet } from '#services/tools-worker/tool-set.ts';
import type { Tool } from '#services/tools-worker/tool.ts';
import { silentLog as log } from '../../helpers/silent-log.ts';

function tool(name: string, inputSchema: JsonObject = { type: 'object' }, description = ''): Tool {
  return { name, description, inputSchema, run: () => Promise.reject(new Error('not run here')) };
}

/** A source whose tools and availability a test may change. */
const sourceOf = (...tools: Tool[]) => ({ prefix: 'a', tools, available: true as boolean });

describe("the set of a worker's tools", () => {
  it('reports a change of its announced tools, and only then', () => {
    const source = sourceOf(tool('one'));
    const set = new ToolSet([source], log);
    expect(set.infos.map(({ name }) => name)).toEqual(['one']);
    expect(set.refresh()).toBe(false);
    source.tools = [tool('one'), tool('two')];
    expect(set.refresh()).toBe(true);
    source.available = false;
    expect(set.refresh()).toBe(true);
    expect(set.infos).toEqual([]);
  });

  it('does not announce a tool that is not available', () => {
    const source = sourceOf(tool('one'));
    const set = new ToolSet([source], log);
    expect(set.get('one')).toBe(source.tools[0]);
    source.available = false;
    set.refresh();
    expect(() => set.get('one')).toThrow(expect.objectContaining({ code: 'upstream_failed' }) as Error);
    expect(() => set.get('other')).toThrow('not available');
  });

  it('leaves out tools that are too large to announce', () => {
    const large = 'x'.repeat(60_000);
    const many = Array.from({ length: 10 }, (_, index) => tool(`tool-${index}`, { type: 'object' }, large));
    const set = new ToolSet([sourceOf(tool('huge', {}, 'x'.repeat(70_000)), ...many)], log);
    expect(set.infos).toHaveLength(8);
    expect(Buffer.byteLength(JSON.stringify(set.infos))).toBeLessThan(600_000);
  });

  it('leaves out the schema of an output rather than the tool', () => {
    const outputSchema = { type: 'object', description: 'x'.repeat(70_000) };
    const annotations = { readOnlyHint: true };
    const set = new ToolSet([sourceOf({ ...tool('one'), title: 'One', annotations, outputSchema })], log);
    const inputSchema = { type: 'object' };
    expect(set.infos).toEqual([{ name: 'one', title: 'One', description: '', inputSchema, annotations }]);
  });

  it('accepts every input of a tool whose schema is not valid', async () => {
    const odd = tool('odd', { type: 'any' });
    const unknown = tool('unknown', { properties: { a: { $ref: 'https://x.test/y' } } });
    const set = new ToolSet([sourceOf(odd, unknown)], log);
    for (const each of [odd, unknown]) await expect(set.checkOf(each)({ whatever: 1 }, 20)).resolves.toBeUndefined();
    const good = tool('good', { type: 'object', required: ['a'] });
    await expect(set.checkOf(good)({}, 2)).rejects.toThrow('input.a');
    expect(set.checkOf(good)).toBe(set.checkOf(good));
  });
});
