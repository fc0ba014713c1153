import type { Client, Tool } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { McpTool } from '#services/tools-worker/mcp/mcp-tool.ts';

const context = { signal: new AbortController().signal, progress: () => undefined };

/** Runs a tool whose server lists this output schema, and answers with this content. */
function run(outputSchema: object, structuredContent: unknown) {
  const client = { callTool: () => Promise.resolve({ content: [], structuredContent }) };
  const listed = { name: 'tool', inputSchema: { type: 'object' }, outputSchema } as Tool;
  return new McpTool(listed, client as unknown as Client, () => undefined).run({}, context);
}

const exponential = { type: 'object', properties: { a: { pattern: '^(x+)+$' } } };

it.each([
  ['has the schema of the output', { type: 'object', required: ['a'] }, { a: 1 }, undefined],
  ['has not', { type: 'object', required: ['a'] }, {}, "does not match the tool's output schema"],
  ['has a schema that is none', { type: 'any' }, {}, 'invalid outputSchema'],
  ['has one that takes exponential time', exponential, { a: `${'x'.repeat(40)}!` }, 'too long'],
])('structured content of a tool is checked: it %s', async (_, schema, structured, message) => {
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 10);
  const output = await run(schema, structured);
  clearInterval(timer);
  expect(output).toMatchObject(
    message === undefined
      ? { isError: false, structuredContent: structured }
      : { isError: true, content: [{ text: expect.stringContaining(message) }] },
  );
  if (message === 'too long') expect(ticks).toBeGreaterThan(3);
});
