import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { post as send } from '../../helpers/clients/keyed-requests.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import { until } from '../../helpers/until.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';

const folder = useFolder();
const diary = join(folder, 'diary');
const everything = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');

const cluster = useCluster({ workers: 0, engineUrl: 'http://127.0.0.1:9' });
beforeAll(async () => {
  const servers = {
    everything: { command: 'node', args: [everything] },
    test: { command: 'node', args: [resolve('test/helpers/upstreams/mcp-test-server.ts'), diary] },
  };
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: servers }));
  const worker = await cluster.addToolsWorker({ MCP_CONFIG: join(folder, 'mcp.json') });
  await worker.line('tools-worker is ready');
});

beforeEach(() => writeFileSync(diary, ''));

/** Waits until the tool `wait` has written this: sooner than its time of a minute ends it. */
const untilDiary = (text: string) => until(() => expect(readFileSync(diary, 'utf8')).toBe(text));

const endpoint = (base = cluster.url): URL => new URL(`${base}/api/tools/mcp`);
const requestInit = () => ({ headers: { authorization: `Bearer ${cluster.key}` } });

async function connect(options: ClientOptions = {}, base?: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, options);
  await client.connect(new StreamableHTTPClientTransport(endpoint(base), { requestInit: requestInit() }));
  return client;
}

async function connectOlder(): Promise<OlderClient> {
  const client = new OlderClient({ name: 'test', version: '1' });
  const transport: unknown = new OlderTransport(endpoint(), { requestInit: requestInit() });
  // What the older SDK declares is not exact about optional properties.
  await client.connect(transport as Parameters<OlderClient['connect']>[0]);
  return client;
}

describe.each([
  { name: 'the official client, newest revision', mode: 'auto' as const, era: 'modern' },
  { name: 'the official client, older revisions', mode: 'legacy' as const, era: 'legacy' },
])('$name', ({ mode, era }) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect({ versionNegotiation: { mode } });
  });
  afterAll(() => client.close());

  it('connects', () => {
    expect(client.getProtocolEra()).toBe(era);
    expect(client.getServerVersion()?.name).toBe('model-router');
    expect(client.getServerCapabilities()).toHaveProperty('tools');
  });

  it('lists the tools of the workers', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'get-sum', 'calculator', 'wait']));
    expect(tools.find(({ name }) => name === 'get-sum')?.inputSchema).toMatchObject({
      type: 'object',
      properties: { a: { type: 'number' } },
    });
    expect(tools.find(({ name }) => name === 'get-structured-content')).toMatchObject({
      title: 'Get Structured Content Tool',
      outputSchema: { type: 'object', properties: { temperature: { type: 'number' } } },
    });
    expect(tools.find(({ name }) => name === 'look')).toMatchObject({ annotations: { readOnlyHint: true } });
  });

  it('calls them', async () => {
    const echo = await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    expect(echo.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
    expect(echo.isError).toBeFalsy();
    const structured = await client.callTool({ name: 'get-structured-content', arguments: { location: 'Chicago' } });
    expect(structured.structuredContent).toHaveProperty('temperature');
    for (const name of ['notes_read', 'notes.read'])
      expect(await client.callTool({ name })).toMatchObject({ content: [{ text: 'a note' }] });
    const picture = await client.callTool({ name: 'get-tiny-image' });
    expect(picture.content.map(({ type }) => type)).toContain('image');
  });

  it('gets wrong input and a failure as results, and an unknown tool as an error', async () => {
    const wrong = await client.callTool({ name: 'get-sum', arguments: { a: 1, b: 'two' } });
    const text = "Invalid value for 'input.b': must be number.";
    expect(wrong).toMatchObject({ isError: true, content: [{ text }] });
    expect(await client.callTool({ name: 'fail' })).toMatchObject({ isError: true });
    const unknown = { code: -32_602, message: expect.stringContaining('Unknown tool: nonesuch') as string };
    await expect(client.callTool({ name: 'nonesuch' })).rejects.toMatchObject(unknown);
  });

  it('gets errors of servers as such, with their codes and data', async () => {
    await expect(client.callTool({ name: 'sign_in' })).rejects.toMatchObject({ code: -32_603 });
    const locked = { code: -32_050, message: expect.stringContaining('Not yet.') as string, data: { until: 5 } };
    await expect(client.getPrompt({ name: 'locked' })).rejects.toMatchObject(locked);
  });

  it('gets progress', async () => {
    const reports: unknown[] = [];
    const answer = await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.4, steps: 4 } },
      { onprogress: (progress) => reports.push(progress) },
    );
    expect(answer.content[0]).toMatchObject({ text: expect.stringContaining('completed') as string });
    expect(reports).toEqual([1, 2, 3, 4].map((progress) => ({ progress, total: 4 })));
  });

  it('lists and reads the resources of all servers', async () => {
    const { resources } = await client.listResources();
    const uris = resources.map(({ uri }) => uri);
    expect(uris).toEqual(expect.arrayContaining(['test://note', 'demo://resource/static/document/architecture.md']));
    expect((await client.readResource({ uri: 'test://note' })).contents).toMatchObject([{ text: 'noted' }]);
    const { resourceTemplates } = await client.listResourceTemplates();
    const templates = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
    expect(templates).toContain('demo://resource/dynamic/blob/{resourceId}');
    const blob = await client.readResource({ uri: 'demo://resource/dynamic/blob/3' });
    expect(blob.contents).toMatchObject([{ blob: expect.any(String) as string }]);
    await expect(client.readResource({ uri: 'test://nothing' })).rejects.toThrow('test://nothing');
  });

  it('lists and gets the prompts of all servers, by names that say which of them is meant', async () => {
    const { prompts } = await client.listPrompts();
    const listed = prompts.map(({ name }) => name);
    expect(listed).toEqual(expect.arrayContaining(['everything_simple-prompt', 'test_simple-prompt', 'args-prompt']));
    expect(listed).not.toContain('simple-prompt');
    const said = async (name: string, values?: Record<string, string>): Promise<string> =>
      JSON.stringify((await client.getPrompt({ name, ...(values && { arguments: values }) })).messages);
    expect(await said('test_simple-prompt')).toContain('something else');
    expect(await said('everything_simple-prompt')).not.toContain('something else');
    expect(await said('args-prompt', { city: 'Ghent' })).toContain('Ghent');
    await expect(client.getPrompt({ name: 'nonesuch' })).rejects.toThrow('Unknown prompt: nonesuch');
  });

  it('completes arguments of prompts and templates', async () => {
    const ofPrompt = await client.complete({
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'name', value: 'A' },
      context: { arguments: { department: 'Engineering' } },
    });
    expect(ofPrompt.completion.values).toEqual(['Alice']);
    const ofTemplate = await client.complete({
      ref: { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' },
      argument: { name: 'resourceId', value: '7' },
    });
    expect(ofTemplate.completion.values).toEqual(['7']);
  });

  it('cancels a call, which ends at the tool', async () => {
    const cancel = new AbortController();
    const call = client.callTool({ name: 'wait' }, { signal: cancel.signal });
    await untilDiary('waiting\n');
    cancel.abort();
    await expect(call).rejects.toThrow('abort');
    await untilDiary('waiting\ncancelled\n');
  });

  it('ends its calls when it disconnects', async () => {
    const leaving = await connect({ versionNegotiation: { mode } });
    const call = leaving.callTool({ name: 'wait' }).catch((error: unknown) => error);
    await untilDiary('waiting\n');
    await leaving.close();
    expect(await call).toBeInstanceOf(Error);
    await untilDiary('waiting\ncancelled\n');
  });

  it('can continue at another node', async () => {
    const { url } = await cluster.addIngress();
    // The other node knows the worker when it lists its tools.
    const other = await connect({ versionNegotiation: { mode } }, url);
    await until(async () => (await other.listTools()).tools.length > 0);
    const answer = await other.callTool({ name: 'echo', arguments: { message: 'there' } });
    expect(answer).toMatchObject({ content: [{ text: 'Echo: there' }] });
    await other.close();
  });
});

describe('the older SDK', () => {
  it('lists, calls, gets progress and cancels', async () => {
    const client = await connectOlder();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('echo');
    const reports: unknown[] = [];
    const answer = await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } },
      undefined,
      { onprogress: (progress) => reports.push(progress) },
    );
    expect(answer.isError).toBeFalsy();
    expect(reports).toHaveLength(2);

    const cancel = new AbortController();
    const call = client.callTool({ name: 'wait' }, undefined, { signal: cancel.signal });
    await untilDiary('waiting\n');
    cancel.abort();
    await expect(call).rejects.toThrow('abort');
    await untilDiary('waiting\ncancelled\n');
    await client.close();
  });

  it('is notified when tools change', async () => {
    const client = await connectOlder();
    expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true } });
    const changed = Promise.withResolvers<void>();
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
    const further = await cluster.addToolsWorker();
    await changed.promise;
    await further.stop();
    await client.close();
  });

  it('cancels its own call only, although all clients use the same ids', async () => {
    const [one, other] = [await connectOlder(), await connectOlder()];
    const cancel = new AbortController();
    const cancelled = one.callTool({ name: 'wait' }, undefined, { signal: cancel.signal });
    const kept = other.callTool({ name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 1 } });
    await untilDiary('waiting\n');
    cancel.abort();
    await expect(cancelled).rejects.toThrow('abort');
    expect((await kept).isError).toBeFalsy();
    await Promise.all([one.close(), other.close()]);
  });
});

describe('a client of the newest revision', () => {
  it('is notified when tools change', async () => {
    const changes = Promise.withResolvers<string[]>();
    const client = await connect({
      versionNegotiation: { mode: 'auto' },
      listChanged: { tools: { onChanged: (_, tools) => changes.resolve((tools ?? []).map(({ name }) => name)) } },
    });
    await client.callTool({ name: 'learn' });
    expect(await changes.promise).toContain('learnt');
    await client.close();
  });
});

describe('a node that stops', () => {
  it('ends the streams of clients of older revisions, too', async () => {
    const { url, process: ingress } = await cluster.addIngress();
    const headers = { authorization: `Bearer ${cluster.key}`, accept: 'text/event-stream' };
    const stream = await fetch(endpoint(url), { headers });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const started = performance.now();
    expect(await ingress.stop()).toBe(0);
    // Answers may take half a minute to finish.
    expect(performance.now() - started).toBeLessThan(20_000);
    await expect(stream.text()).rejects.toThrow();
  });

  it('ends the streams of its clients without waiting for them', async () => {
    const { url, process: ingress } = await cluster.addIngress();
    const listChanged = { tools: { onChanged: () => undefined } };
    const client = await connect({ versionNegotiation: { mode: 'auto' }, listChanged }, url);
    const { closed } = client.autoOpenedSubscription ?? {};
    const started = performance.now();
    expect(await ingress.stop()).toBe(0);
    // Answers may take half a minute to finish.
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(await closed).toBe('remote');
    await client.close();
  });
});

describe('a key that may use some tools only', () => {
  it('lists and calls these, and no others', async () => {
    const { raw } = await cluster.addKey({ tools: ['echo', 'test/*'] });
    const client = new Client({ name: 'test', version: '1' });
    const headers = { authorization: `Bearer ${raw}` };
    await client.connect(new StreamableHTTPClientTransport(endpoint(), { requestInit: { headers } }));
    const { tools } = await client.listTools();
    const listed = tools.map(({ name }) => name);
    expect(listed).toEqual(expect.arrayContaining(['echo', 'look']));
    expect(listed).not.toContain('get-sum');
    expect((await client.callTool({ name: 'look' })).isError).toBeFalsy();
    const call = client.callTool({ name: 'calculator', arguments: { expression: '1' } });
    await expect(call).rejects.toThrow('This key may not use the tool `calculator`.');
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['test://note']);
    expect((await client.listPrompts()).prompts.map(({ name }) => name).sort()).toEqual(['locked', 'simple-prompt']);
    await expect(client.readResource({ uri: 'demo://resource/dynamic/blob/3' })).rejects.toThrow('demo://');
    await client.close();
  });
});

describe('the endpoint', () => {
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const post = (headers: Record<string, string>, body = JSON.stringify(ping)) =>
    send({
      ...cluster,
      path: '/tools/mcp',
      body,
      headers: { accept: 'application/json, text/event-stream', ...headers },
    });

  it('requires a key, and says so', async () => {
    const answer = await post({ authorization: '' });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    // The schema of the protocol knows no null.
    const data = expect.objectContaining({ code: 'missing_key' }) as object;
    const error = { code: -32_000, message: expect.any(String) as string, data };
    expect(await answer.json()).toEqual({ jsonrpc: '2.0', error });
  });

  it.each([
    { origin: 'http://localhost:6274', status: 200 },
    { origin: 'http://127.0.0.1:8484', status: 200 },
    { origin: 'https://evil.example', status: 403 },
    { origin: 'null', status: 403 },
  ])('answers pages of $origin with $status', async ({ origin, status }) => {
    const answer = await post({ origin });
    expect(answer.status).toBe(status);
    await answer.text();
  });

  it('answers a body that is not JSON with a JSON-RPC error', async () => {
    const answer = await post({}, '{"jsonrpc":');
    expect(answer.status).toBe(400);
    const body = (await answer.json()) as object;
    expect(body).toMatchObject({ jsonrpc: '2.0', error: { code: -32_700 } });
    expect(body).not.toHaveProperty('id');
  });
});
