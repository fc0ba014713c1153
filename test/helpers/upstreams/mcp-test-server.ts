import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer, ProtocolError, UrlElicitationRequiredError } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

/* An MCP server over stdio that misbehaves on demand. It writes its events to the file of its first argument, one per line. */

const diary = process.argv[2];
const note = (line: string): void => {
  if (diary !== undefined) appendFileSync(diary, `${line}\n`);
};
note(`started ${process.pid}`);

serveStdio(() => {
  const server = new McpServer({ name: 'test', version: '1' });
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
  server.registerTool('pid', { description: 'Returns the process id.' }, () => text(String(process.pid)));
  server.registerTool('variables', { description: 'Returns the names of its variables.' }, () =>
    text(Object.keys(process.env).sort().join(' ')),
  );
  server.registerTool('crash', { description: 'Ends the server.' }, () => process.exit(1));
  server.registerTool('fail', { description: 'Fails.' }, () => {
    throw new Error('this is what it does');
  });
  server.registerTool('sign_in', { description: 'Answers with an error of the protocol.' }, () => {
    const elicitation = { mode: 'url' as const, elicitationId: '1', url: 'https://sign.in', message: 'Sign in.' };
    throw new UrlElicitationRequiredError([elicitation], 'Sign in first.');
  });
  server.registerTool('refuse', { description: 'Says that it failed.' }, () => ({ ...text('no'), isError: true }));
  server.registerTool(
    'large',
    { description: 'Says much.', inputSchema: z.object({ bytes: z.number() }) },
    ({ bytes }) => text('x'.repeat(bytes)),
  );
  server.registerTool('wait', { description: 'Waits until it is cancelled.' }, async ({ mcpReq }) => {
    note('waiting');
    await sleep(60_000, undefined, { signal: mcpReq.signal }).catch(() => note('cancelled'));
    return text('done');
  });
  server.registerTool(
    'find_pages',
    {
      description: 'Finds pages.',
      inputSchema: z.object({ query: z.string(), count: z.number().optional(), city: z.string().optional() }),
    },
    async ({ query, count = 2, city }, { mcpReq }) => {
      note(`searching ${query}${city === undefined ? '' : ` near ${city}`}`);
      if (query.includes('slow'))
        await sleep(60_000, undefined, { signal: mcpReq.signal }).catch(() => note('cancelled'));
      if (query.includes('late')) await sleep(1_000);
      if (query.includes('broken')) return { ...text('the index is gone'), isError: true };
      const pages = ['pages.example', 'other.example', 'third.example'].slice(0, query.includes('nothing') ? 0 : count);
      return text(
        pages
          .map((host) => `Title: ${query} at ${host}\nURL: https://${host}/a\nContent: All of ${host}.`)
          .join('\n\n'),
      );
    },
  );
  server.registerTool(
    'get_page',
    { description: 'Gets a page.', inputSchema: z.object({ address: z.string() }) },
    ({ address }) => text(`The text of ${address}.`),
  );
  server.registerTool('notes.read', { description: 'Reads notes.' }, () => text('a note'));
  server.registerTool('look', { description: 'Looks.', annotations: { readOnlyHint: true } }, () => text('seen'));
  server.registerResource('note', 'test://note', { mimeType: 'text/plain' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'noted' }],
  }));
  server.registerPrompt('locked', { description: 'Answers with an error of its own.' }, () => {
    throw new ProtocolError(-32_050, 'Not yet.', { until: 5 });
  });
  server.registerPrompt('simple-prompt', { description: 'Says something else.' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'something else' } }],
  }));
  server.registerTool('learn', { description: 'Gets another tool.' }, () => {
    server.registerTool('learnt', { description: 'Was learnt.' }, () => text('learnt'));
    return text('more');
  });
  return server;
});
