import { describe, expect, it } from 'vitest';
import { flattenTools } from '#shared/translate/responses/flatten-tools.ts';

const fn = (name: string, more: object = {}) => ({ type: 'function', name, ...more });
const group = (name: string, ...tools: object[]) => ({ type: 'namespace', name, tools });

function flatten(fields: object) {
  return flattenTools({ model: 'm', ...fields });
}

describe('the tools of a Responses request', () => {
  it('become one list of functions with names that every upstream accepts', () => {
    const long = 'x'.repeat(70);
    const { tools, clientTools, findFlatName } = flatten({
      tools: [fn('plain'), group('mcp__tt', fn('echo'), fn('übel')), fn(long), fn('mcp__tt__echo')],
    });
    const names = tools.map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['plain', 'mcp__tt__echo']);
    expect(new Set(names).size).toBe(5);
    expect(names.filter((name) => !/^[\w-]{1,64}$/.test(name))).toEqual([]);
    expect(names.map((name) => clientTools.get(name))).toEqual([
      { type: 'function', name: 'plain' },
      { type: 'function', name: 'echo', namespace: 'mcp__tt' },
      { type: 'function', name: 'übel', namespace: 'mcp__tt' },
      { type: 'function', name: long },
      { type: 'function', name: 'mcp__tt__echo' },
    ]);
    expect(findFlatName('echo', 'mcp__tt')).toBe('mcp__tt__echo');
    expect(findFlatName('mcp__tt__echo')).toBe(names[4]);
    expect(findFlatName('gone', 'mcp__tt')).toBe('mcp__tt__gone');
  });

  it('have descriptions, schemas and strictness', () => {
    const properties = { a: { type: 'string' } };
    const parameters = { $schema: 's', type: 'object', properties };
    const { tools } = flatten({ tools: [fn('f', { description: 'd', parameters, strict: true }), fn('g')] });
    expect(tools).toEqual([
      { name: 'f', description: 'd', parameters: { type: 'object', properties }, strict: true },
      { name: 'g', description: undefined, parameters: { type: 'object', properties: {} }, strict: undefined },
    ]);
  });

  it("have a custom tool's grammar in the description of its function", () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
    const { tools, clientTools } = flatten({
      tools: [{ type: 'custom', name: 'apply_patch', description: 'd', format }],
    });
    expect(tools[0]).toMatchObject({
      name: 'apply_patch',
      description: 'd\n\nThe input follows this grammar (lark):\nstart: "x"',
      parameters: { properties: { input: { type: 'string' } }, required: ['input'] },
    });
    expect(clientTools.get('apply_patch')).toEqual({ type: 'custom', name: 'apply_patch' });
  });

  it('include those that items of the input add; the last definition of a tool counts', () => {
    const added = [group('functions', { type: 'custom', name: 'exec' })];
    const found = [group('mcp__tt', fn('echo')), fn('f', { description: 'new' })];
    const { tools, clientTools } = flatten({
      tools: [fn('f', { description: 'old' }), { type: 'tool_search', execution: 'client', description: 'find' }],
      input: [
        { type: 'additional_tools', role: 'developer', tools: added },
        { role: 'user', content: 'hi' },
        { type: 'tool_search_output', call_id: 'c', tools: found },
      ],
    });
    const described = tools.map(({ name, description }) => `${name}: ${description}`);
    expect(described.slice(0, 2)).toEqual(['f: new', 'tool_search: find']);
    expect(described.slice(2)).toEqual(['functions__exec: undefined', 'mcp__tt__echo: undefined']);
    expect(clientTools.get('functions__exec')).toEqual({ type: 'custom', name: 'exec', namespace: 'functions' });
    expect(clientTools.get('tool_search')).toEqual({ type: 'tool_search', name: 'tool_search' });
  });

  it('that run on a server are listed with their paths', () => {
    const { tools, serverTools } = flatten({
      tools: [fn('f'), { type: 'web_search' }, group('g', { type: 'code_interpreter' }), { type: 'tool_search' }],
      input: [{ type: 'additional_tools', tools: [{ type: 'file_search' }] }],
    });
    expect(tools).toHaveLength(1);
    expect(serverTools.map(({ tool, param }) => [tool.type, param])).toEqual([
      ['web_search', 'tools[1]'],
      ['code_interpreter', 'tools[2].tools[0]'],
      ['tool_search', 'tools[3]'],
      ['file_search', 'input[0].tools[0]'],
    ]);
  });
});
