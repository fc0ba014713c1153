import { expect, it } from 'vitest';
import { LeftOutTools } from '#services/ingress/mcp/left-out-tools.ts';

const toolOf = (server: string) => ({
  name: server,
  description: '',
  inputSchema: { type: 'object' },
  worker: 'a worker',
  server,
});

it('tools that do not fit into lists are logged once a minute for keys with different lists, and once for one list', () => {
  const logged: unknown[] = [];
  let now = 0;
  const leftOut = new LeftOutTools({ warn: (fields: unknown) => void logged.push(fields) }, () => now);
  const poll = () => ['a', 'b'].forEach((server) => leftOut.add([toolOf(server)], []));
  leftOut.add([toolOf('c')], [toolOf('c')]);
  expect(logged).toEqual([]);
  for (; now < 60_000; now += 1_000) poll();
  expect(logged).toEqual([{ servers: ['a'], tools: 1 }]);
  for (; now < 120_000; now += 1_000) poll();
  expect(logged).toHaveLength(2);
  now += 60_000;
  leftOut.add([toolOf('b')], []);
  expect(logged.slice(1)).toEqual([{ servers: ['b'], tools: 1 }]);
});
