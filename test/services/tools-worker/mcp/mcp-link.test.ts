import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import type { McpServerEntry } from '#shared/registry/mcp-servers.ts';
import { McpLink } from '#services/tools-worker/mcp/mcp-link.ts';
import type { ToolOutput } from '#services/tools-worker/tool.ts';
import { until } from '../../../helpers/until.ts';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { silentLog as log } from '../../../helpers/silent-log.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';

/** Longer than the 300 ms for which the client gathers the changes that a server reports. */
const listPauseMs = 750;

const context = { signal: new AbortController().signal, progress: () => undefined };

function open(entry: McpServerEntry, linkLog = log) {
  const onChange = vi.fn();
  const link = stopAfterTest(new McpLink(entry, linkLog, 100_000, onChange, listPauseMs));
  return { link, onChange };
}

const linkTo = (url: string, linkLog?: typeof log) =>
  open({ name: 'a server', kind: 'http', server: { url, headers: { authorization: 'Bearer secret' } } }, linkLog);

/** Links to a server that is a program among the helpers. */
async function linkToProgram(program: string): Promise<McpLink> {
  const args = [resolve(`test/helpers/upstreams/${program}-mcp-server.ts`)];
  const { link } = open({ name: program, kind: 'stdio', server: { command: 'node', args, env: {} } });
  await link.firstTry;
  return link;
}

function run(link: McpLink, name: string, input = {}, over: Partial<typeof context> = {}): Promise<ToolOutput> {
  const tool = link.tools.find((each) => each.name === name);
  if (!tool) throw new Error(`there is no ${name}`);
  return tool.run(input, { ...context, ...over });
}

/** Starts the reference server over HTTP, with MCP sessions, as a process of its own. */
async function startEverything(port: number): Promise<ChildProcess> {
  const file = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  const child = spawn('node', [file, 'streamableHttp'], { env: { ...process.env, PORT: String(port) }, stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdout.resume();
  for await (const chunk of child.stderr) if (String(chunk).includes('listening')) break;
  child.stderr.resume();
  return child;
}

it('a link to an MCP server with sessions runs its tools, and connects again when the server has lost its session or is back', async () => {
  const port = await findFreePort();
  let server = await startEverything(port);
  const { link } = linkTo(`http://127.0.0.1:${port}/mcp`);
  const echo = async (message: string) => (await run(link, 'echo', { message })).content;
  const end = async (): Promise<void> => {
    server.kill('SIGKILL');
    await once(server, 'exit');
  };
  await link.firstTry;
  expect(link.prefix).toBe('a-server');
  expect(await echo('hi')).toMatchObject([{ text: 'Echo: hi' }]);

  await end();
  server = await startEverything(port);
  await expect(echo('hi')).rejects.toMatchObject({ code: 'upstream_failed' });
  await until(async () => expect(await echo('again').catch(() => [])).toMatchObject([{ text: 'Echo: again' }]));

  await end();
  await expect(echo('hi')).rejects.toMatchObject({ code: 'upstream_failed' });
  await until(() => expect(link.available).toBe(false));
  // Its tools stay listed, so that their names stay taken.
  expect(link.tools.length).toBeGreaterThan(0);
  await startEverything(port);
  await until(() => expect(link.available).toBe(true));
  expect(await echo('back')).toMatchObject([{ text: 'Echo: back' }]);
});

/** Serves requests whose body was read by an MCP server in this process, until the end of the test. */
function serveBy(handler: ReturnType<typeof createMcpHandler>) {
  const serve = toNodeHandler(stopAfterTest(handler));
  return (request: IncomingMessage, response: ServerResponse, body: string) => {
    const { method = '', url = '' } = request;
    return serve(Object.assign(request, { method, url }), response, body === '' ? undefined : JSON.parse(body));
  };
}

/**
 * Links to a server of the newest revision, without MCP sessions, in this process.
 * @param answerOf the result or error for a request that the server itself does not answer; `nothing` for no answer at all
 */
async function start(answerOf: (body: string) => object | 'nothing' | undefined = () => undefined, linkLog = log) {
  const asked: string[] = [];
  let hasMore = false;
  const texts = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
  const handler = createMcpHandler(
    () => {
      const capabilities = { tools: { listChanged: true } };
      const server = new McpServer({ name: 'newest', version: '1' }, { capabilities });
      server.registerTool('large', {}, () => texts('x'.repeat(200_000)));
      server.registerTool('wait', {}, async ({ mcpReq }) => {
        asked.push('waiting');
        await sleep(60_000, undefined, { signal: mcpReq.signal }).catch(() => asked.push('cancelled'));
        return texts('done');
      });
      if (hasMore) server.registerTool('more', {}, () => texts('more'));
      return server;
    },
    { legacy: 'reject' },
  );
  const serve = serveBy(handler);
  const url = await serveInTest(async (request, response) => {
    if (request.headers['authorization'] !== 'Bearer secret') return void response.writeHead(401).end();
    const body = await text(request);
    const answer = answerOf(body);
    if (answer === 'nothing') return;
    if (answer) {
      const { id } = JSON.parse(body) as { id: number };
      const json = { 'content-type': 'application/json' };
      return void response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    }
    await serve(request, response, body);
  });
  const { link, onChange } = linkTo(`${url}/mcp`, linkLog);
  await link.firstTry;
  const more = (): void => {
    hasMore = true;
    handler.notify.toolsChanged();
  };
  return { link, onChange, asked, more };
}

describe('a link to an MCP server of the newest revision', () => {
  it('follows changes of its tools', async () => {
    const { more, link, onChange } = await start();
    expect(link.tools.map(({ name }) => name)).toEqual(['large', 'wait']);
    expect(onChange).toHaveBeenCalledTimes(1);
    more();
    await until(() => expect(link.tools.map(({ name }) => name)).toEqual(['large', 'wait', 'more']));
    expect(await run(link, 'more')).toMatchObject({ content: [{ text: 'more' }] });
  });

  it('lists them again only after a pause, however often the server reports changes', async () => {
    const listedAt: number[] = [];
    const { more, link } = await start((body) => {
      if (body.includes('tools/list')) listedAt.push(performance.now());
      return undefined;
    });
    await until(() => {
      more();
      expect(link.tools.map(({ name }) => name)).toContain('more');
    });
    const [first = 0, second = 0, ...others] = listedAt;
    // The router measures from the answer, and this server from the request, which is earlier. A timer may end a millisecond early.
    expect(second - first).toBeGreaterThanOrEqual(listPauseMs - 1);
    expect(others).toEqual([]);
  });

  it('cancels a call at the server', async () => {
    const { asked, link } = await start();
    const call = new AbortController();
    const waiting = run(link, 'wait', {}, { signal: call.signal });
    await until(() => expect(asked).toEqual(['waiting']));
    call.abort(new Error('the call is over'));
    await expect(waiting).rejects.toThrow('the call is over');
    await until(() => expect(asked).toEqual(['waiting', 'cancelled']));
  });

  it('fails a call whose answer is too large', async () => {
    const { link } = await start();
    await expect(run(link, 'large')).rejects.toMatchObject({ code: 'upstream_failed' });
  });
});

describe('an answer of an MCP server', () => {
  const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
  const question = { method: 'elicitation/create', params };
  const input = { resultType: 'input_required' };

  it.each([
    ['asks a person', { result: { ...input, inputRequests: { who: question } } }, 'questions to a person'],
    ['asks for the call again, and again', { result: { ...input, requestState: 'x' } }, 'again and again'],
    ['is of a type that nobody knows', { result: { resultType: 'later' } }, "of the type 'later'"],
  ])('that %s becomes the output of the tool', async (_, answer, said) => {
    const { link } = await start((body) => (body.includes('tools/call') ? answer : undefined));
    const { isError, content, error } = await run(link, 'wait');
    expect([isError, error]).toEqual([true, undefined]);
    expect(JSON.stringify(content)).toContain(said);
  });

  it('that is an error keeps its code and data', async () => {
    const error = { code: -32_042, message: 'Sign in first.', data: { url: 'https://sign.in' } };
    const { link } = await start((body) => (/tools.call|prompts.get/.test(body) ? { error } : undefined));
    const content = [{ type: 'text', text: 'Sign in first.' }];
    expect(await run(link, 'wait')).toEqual({ isError: true, content, error });
    const prompt = { method: 'prompts/get', params: { name: 'any' } };
    expect(await link.content?.run(prompt, context)).toMatchObject({ isError: true, error });
  });
});

it('a link to an MCP server that does not confirm notices has its tools at once, and logs that', async () => {
  const said: string[] = [];
  const sayingLog = {
    child: () => sayingLog,
    info: () => undefined,
    warn: (_: object, sentence: string) => said.push(sentence),
  } as unknown as typeof log;
  const { link } = await start((body) => (body.includes('subscriptions/listen') ? 'nothing' : undefined), sayingLog);
  expect(said).toEqual([]);
  expect(link.tools.map(({ name }) => name)).toContain('wait');
  await until(() => expect(said).toEqual([expect.stringContaining('does not confirm')]));
});

it('a link to an MCP server that was not ready at first uses the newest revision once it is', async () => {
  const revisions: unknown[] = [];
  let isReady = false;
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'both', version: '1' });
    server.registerTool('any', {}, () => ({ content: [{ type: 'text', text: 'done' }] }));
    return server;
  });
  const serve = serveBy(handler);
  const url = await serveInTest(async (request, response) => {
    const body = await text(request);
    if (body.includes('tools/call')) revisions.push(request.headers['mcp-protocol-version']);
    if (isReady) await serve(request, response, body);
    else response.writeHead(503).end();
    isReady = true;
  });
  const { link } = linkTo(`${url}/mcp`);
  await until(() => expect(link.available).toBe(true));
  await run(link, 'any');
  expect(revisions).toEqual(['2026-07-28']);
});

it('a link to an MCP server that ends when it is asked for its revision has its tools at the first try', async () => {
  const link = await linkToProgram('unaskable');
  expect(await run(link, 'any')).toMatchObject({ content: [{ text: 'done' }] });
});

it("a link to an MCP server of an older revision refuses the server's requests to its client, with a reason", async () => {
  const link = await linkToProgram('asking');
  const { isError, content } = await run(link, 'sample');
  expect(isError).toBe(true);
  expect(JSON.stringify(content)).toContain('The router does not answer requests for an answer of a model');
});

describe('a link to an MCP server that does not answer', () => {
  it('is not available, and can be closed', async () => {
    const { link } = linkTo(`http://127.0.0.1:${await findFreePort()}/mcp`);
    await link.firstTry;
    expect(link.available).toBe(false);
    await link.close();
  });

  it('closes while it connects', async () => {
    const asked = Promise.withResolvers<void>();
    const { link } = linkTo(`${await serveInTest(() => asked.resolve())}/mcp`);
    await asked.promise;
    await expect(link.close()).resolves.toBeUndefined();
  });
});
