import { expect, it } from 'vitest';
import { fitToolList } from '#services/ingress/mcp/fit-tool-list.ts';

/** Tools of 64 KiB each. */
const toolsOf = (server: string | undefined, name: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: `${name}${String(at).padStart(3, '0')}`,
    description: 'x'.repeat(64 * 1024),
    inputSchema: { type: 'object' },
    worker: 'a worker',
    ...(server !== undefined && { server }),
  }));

it('a list of tools that is too large for MCP clients loses the last tools of the largest server, and none of others', () => {
  const small = [...toolsOf('small', 'a', 3), ...toolsOf(undefined, 'own', 3)];
  expect(fitToolList(small)).toBe(small);
  const large = toolsOf('large', 'm', 200);
  const fitting = fitToolList([...large, ...small]);
  expect(fitting.filter(({ server }) => server !== 'large')).toEqual(small);
  const kept = fitting.filter(({ server }) => server === 'large');
  expect(kept).toEqual(large.slice(0, kept.length));
  expect(kept.length).toBeGreaterThan(50);
  expect(JSON.stringify(fitting).length).toBeLessThan(4.1 * 1024 * 1024);
});

it('a tool is written as JSON once, for all lists in which it is', () => {
  let writes = 0;
  const [tool] = toolsOf('server', 'a', 1);
  const inputSchema = { type: 'object', toJSON: () => ({ type: 'object', writes: (writes += 1) }) };
  for (let lists = 0; lists < 3; lists += 1)
    fitToolList([{ ...tool, name: 'a', description: '', worker: 'w', inputSchema }]);
  expect(writes).toBe(1);
});
