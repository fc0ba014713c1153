import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { get, post, type KeyedPost } from '../helpers/clients/keyed-requests.ts';
import { useScriptedCluster } from '../helpers/cluster/start-scripted-cluster.ts';
import { adminOf, metricOf } from '../helpers/cluster/worker-admin.ts';
import { startShakyMcp } from '../helpers/upstreams/start-shaky-mcp.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';
import type { ServiceProcess } from '../helpers/processes/start-process.ts';
import { temporaryFolder, useFolder } from '../helpers/files/temporary-folder.ts';

interface ToolAnswer {
  tool: string;
  is_error: boolean;
  content: { type: string; text?: string; data?: string }[];
  structured_content?: Record<string, unknown>;
}

interface Tool {
  name: string;
  description: string;
  title?: string;
  input_schema: { type: string; properties?: Record<string, unknown> };
  output_schema?: object;
  annotations?: object;
  server?: string;
  worker: string;
}

const folder = useFolder();
const files = join(folder, 'files');
const own = join(folder, 'own');
const diary = join(folder, 'diary');
const server = (name: string, ...args: string[]) => ({
  command: 'node',
  args: [resolve(`node_modules/@modelcontextprotocol/${name}/dist/index.js`), ...args],
});

let worker: ServiceProcess;

const cluster = useScriptedCluster();
beforeAll(async () => {
  mkdirSync(files);
  mkdirSync(own);
  writeFileSync(join(files, 'hello.txt'), 'Hello from a file.');
  writeFileSync(diary, '');
  writeFileSync(
    join(folder, 'mcp.json'),
    JSON.stringify({
      mcpServers: {
        everything: server('server-everything'),
        files: server('server-filesystem', files),
        test: {
          command: 'node',
          args: [resolve('test/helpers/upstreams/mcp-test-server.ts'), diary],
          env: { GIVEN: '1' },
        },
        broken: { command: 'node', args: ['-e', 'console.error("no luck"); process.exit(1)'] },
        missing: { command: 'no-such-command' },
      },
    }),
  );
  writeOwn('greet', '`Hello, ${name}!`');
  const settings = { MCP_CONFIG: join(folder, 'mcp.json'), TOOLS_DIR: own };
  worker = await cluster.addToolsWorker({ ...settings, SECRET: 'x' });
  await until(async () => (await names()).includes('pid') && (await names()).includes('echo'));
});

function writeOwn(name: string, said: string): void {
  writeFileSync(
    join(own, `${name}.ts`),
    `import { defineTool, z } from 'model-router/tool';
     const input = z.object({ name: z.string() });
     type Input = z.output<typeof input>;
     export const tool = defineTool({ name: '${name}', description: 'Greets.', input, run: ({ name }: Input) => ${said} });`,
  );
}

const execute = (body: object, further: Partial<KeyedPost> = {}) =>
  post({ ...cluster, path: '/tools/v1/execute', body, ...further });

async function run(tool: string, input: object = {}): Promise<ToolAnswer> {
  const answer = await execute({ tool, input });
  expect(answer.status).toBe(200);
  return (await answer.json()) as ToolAnswer;
}

async function textOf(tool: string, input: object = {}): Promise<string> {
  return (await run(tool, input)).content[0]?.text ?? '';
}

async function list(): Promise<Tool[]> {
  const answer = await get(cluster, '/tools/v1/list');
  const { object, data } = (await answer.json()) as { object: string; data: Tool[] };
  expect(object).toBe('list');
  return data;
}

async function names(): Promise<string[]> {
  return (await list()).map(({ name }) => name);
}

/** Returns the answer of the MCP server to a request without parameters, as text. */
async function answerOfMcp(method: string, { url }: { url: string } = cluster): Promise<string> {
  const body = { jsonrpc: '2.0', id: 1, method, params: {} };
  const headers = { accept: 'application/json, text/event-stream' };
  return (await post({ ...cluster, url, path: '/tools/mcp', body, headers })).text();
}

async function errorOf(answer: Response): Promise<{ status: number; error: Record<string, unknown> }> {
  const { error } = (await answer.json()) as { error: Record<string, unknown> };
  return { status: answer.status, error };
}

describe('the list of tools', () => {
  it('has those of MCP servers, of the folder and of the worker itself, each with schema and worker', async () => {
    const tools = await list();
    const wanted = ['echo', 'get-sum', 'read_text_file', 'greet', 'current_time', 'calculator', 'http_fetch'];
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(wanted));
    const sum = tools.find(({ name }) => name === 'get-sum');
    expect(sum).toMatchObject({ input_schema: { type: 'object', properties: { a: { type: 'number' } } } });
    expect(new Set(tools.map((tool) => tool.worker)).size).toBe(1);
    expect(sum?.description).not.toBe('');
    // Not the other content of MCP servers.
    expect(tools.filter(({ name }) => name.includes('/'))).toEqual([]);
  });

  it('has the titles, outputs and effects of MCP servers', async () => {
    const tools = await list();
    const find = (wanted: string) => tools.find(({ name }) => name === wanted);
    expect(find('get-structured-content')).toMatchObject({
      title: 'Get Structured Content Tool',
      output_schema: { type: 'object', properties: { temperature: { type: 'number' } } },
    });
    expect(find('read_text_file')).toMatchObject({ annotations: { readOnlyHint: true } });
    expect(find('calculator')).not.toHaveProperty('output_schema');
  });

  it('needs a key, and only allows GET', async () => {
    const url = `${cluster.url}/api/tools/v1/list`;
    expect((await fetch(url)).status).toBe(401);
    const headers = { authorization: `Bearer ${cluster.key}` };
    expect(await errorOf(await fetch(url, { method: 'DELETE', headers }))).toMatchObject({ status: 405 });
    expect(await errorOf(await get(cluster, '/tools/v1/nothing'))).toMatchObject({ status: 404 });
  });
});

describe('running a tool', () => {
  it('runs tools of MCP servers', async () => {
    const echo = { tool: 'echo', is_error: false, content: [{ type: 'text', text: 'Echo: hi' }] };
    expect(await run('echo', { message: 'hi' })).toEqual(echo);
    expect(await textOf('get-sum', { a: 2, b: 3 })).toContain('5');
    expect(await textOf('read_text_file', { path: join(files, 'hello.txt') })).toBe('Hello from a file.');
    expect((await run('get-tiny-image')).content.map(({ type }) => type)).toContain('image');
    const weather = { is_error: false, structured_content: { temperature: expect.any(Number) } };
    expect(await run('get-structured-content', { location: 'New York' })).toMatchObject(weather);
  });

  it('runs a tool whose name is not valid in all formats by both of its names', async () => {
    expect(await names()).toContain('notes_read');
    expect(await names()).not.toContain('notes.read');
    for (const name of ['notes_read', 'notes.read']) expect(await textOf(name)).toBe('a note');
  });

  it('runs the tools of the worker itself', async () => {
    expect(await textOf('calculator', { expression: '0.1 + 0.2' })).toBe('0.3');
    expect(await textOf('current_time', { timezone: 'Asia/Tokyo' })).toContain('+09:00');
  });

  it('names the worker and tier that ran it', async () => {
    const answer = await execute({ tool: 'current_time' });
    expect(answer.headers.get('x-rtr-tier')).toBe('tools');
    expect(answer.headers.get('x-rtr-worker')).toMatch(/^w/);
    expect(answer.headers.get('x-request-id')).toBeTruthy();
  });

  it.each([
    { body: { tool: 'get-sum', input: { a: 1, b: 'two' } }, param: 'input.b', code: 'invalid_type' },
    { body: { tool: 'get-sum', input: { a: 1 } }, param: 'input.b', code: 'missing_required_parameter' },
    { body: { tool: 'greet' }, param: 'input.name', code: 'missing_required_parameter' },
    { body: { tool: 'current_time', input: { timezone: 'Mars' } }, param: 'input.timezone', code: 'invalid_type' },
    { body: { tool: 'greet', input: 'Ada' }, param: 'input', code: 'invalid_type' },
    { body: { input: {} }, param: 'tool', code: 'missing_required_parameter' },
    { body: { tool: 'nonesuch', input: {} }, param: 'tool', code: 'not_found', status: 404 },
  ])('names the invalid field of $body', async ({ body, param, code, status = 400 }) => {
    const error = { param, code, type: 'invalid_request_error' };
    expect(await errorOf(await execute(body))).toMatchObject({ status, error });
  });

  it('reports a failed tool in the result', async () => {
    for (const tool of ['fail', 'refuse']) expect(await run(tool)).toMatchObject({ tool, is_error: true });
    expect(await textOf('fail')).toContain('this is what it does');
    for (const [tool, input, text] of [
      ['calculator', { expression: '1 / 0' }, 'division by zero'],
      ['http_fetch', { url: 'http://127.0.0.1:1/' }, 'It was not fetched: its address is not public.'],
    ] as const)
      expect(await run(tool, input)).toMatchObject({ is_error: true, content: [{ text }] });
  });

  it('reports a tool with too large an output as failed', async () => {
    expect((await run('large', { bytes: 90_000 })).is_error).toBe(false);
    const text = expect.stringContaining('larger than 8388608 bytes');
    expect(await run('large', { bytes: 8_400_000 })).toMatchObject({ is_error: true, content: [{ text }] });
  });

  it('cancels the tool when the client disconnects', async () => {
    writeFileSync(diary, '');
    const client = new AbortController();
    const answer = execute({ tool: 'wait' }, { signal: client.signal });
    await until(() => readFileSync(diary, 'utf8') === 'waiting\n');
    client.abort();
    await expect(answer).rejects.toThrow('aborted');
    await until(() => readFileSync(diary, 'utf8') === 'waiting\ncancelled\n');
  });

  it('gives servers only common variables and their own', async () => {
    const variables = (await textOf('variables')).split(' ');
    expect(variables).toContain('GIVEN');
    expect(variables).not.toContain('SECRET');
    expect(variables).not.toContain('NATS_URL');
  });
});

describe('an MCP server', () => {
  it('that crashes fails its running call, and is started again', async () => {
    const before = await textOf('pid');
    const failed = { status: 502, error: { code: 'upstream_failed' } };
    expect(await errorOf(await execute({ tool: 'crash' }))).toMatchObject(failed);
    // The next call waits for the server.
    expect(await textOf('pid')).not.toBe(before);
    expect(await textOf('echo', { message: 'still' })).toBe('Echo: still');
  });

  it('that gets another tool has it listed', async () => {
    expect(await names()).not.toContain('learnt');
    await run('learn');
    await until(async () => (await names()).includes('learnt'));
    expect(await textOf('learnt')).toBe('learnt');
  });

  it('that does not start is logged, with its output', () => {
    const reasons = worker.lines.filter(({ msg }) => msg === 'an MCP server is out of reach');
    for (const [name, reason] of Object.entries({ broken: 'no luck', missing: 'ENOENT' }))
      expect(reasons).toContainEqual(
        expect.objectContaining({ server: name, reason: expect.stringContaining(reason) }),
      );
  });
});

describe('a folder of tools', () => {
  it('is loaded, and reloaded when a file changes', async () => {
    expect(await textOf('greet', { name: 'Ada' })).toBe('Hello, Ada!');
    writeOwn('greet', '`Goodbye, ${name}!`');
    await until(async () => (await textOf('greet', { name: 'Ada' })) === 'Goodbye, Ada!');
  });

  it('keeps the old tool if its file is broken, and logs the reason', async () => {
    writeFileSync(join(own, 'greet.ts'), 'export const tool = {');
    const { err, kept } = await worker.line('a tool could not be loaded');
    expect(kept).toBe('greet');
    expect(JSON.stringify(err)).toContain('SyntaxError');
    expect(await textOf('greet', { name: 'Ada' })).toBe('Goodbye, Ada!');
  });

  it('reloads the modules that a changed file imports', async () => {
    mkdirSync(join(own, 'lib'));
    writeFileSync(join(own, 'lib', 'word.ts'), "export const word = 'one';");
    writeFileSync(
      join(own, 'say.ts'),
      `import { defineTool, z } from 'model-router/tool';
       import { word } from './lib/word.ts';
       export const tool = defineTool({ name: 'say', description: 'Says it.', input: z.object({}), run: () => word });`,
    );
    await until(async () => (await names()).includes('say'));
    expect(await textOf('say')).toBe('one');
    writeFileSync(join(own, 'lib', 'word.ts'), "export const word = 'another';");
    await until(async () => (await textOf('say')) === 'another');
  });

  it('loses the tool with its file', async () => {
    rmSync(join(own, 'say.ts'));
    await until(async () => !(await names()).includes('say'));
  });
});

describe('two workers with the same tools', () => {
  it('share a pool: when one dies, its call fails, because a tool must not run twice, and the other serves', async () => {
    writeFileSync(diary, '');
    const slow = temporaryFolder();
    writeFileSync(
      join(slow, 'slow.ts'),
      `import { appendFileSync } from 'node:fs';
       import { defineTool, z } from 'model-router/tool';
       const run = () => {
         appendFileSync(${JSON.stringify(diary)}, process.pid + '\\n');
         return new Promise<string>(() => undefined);
       };
       export const tool = defineTool({ name: 'slow', description: 'Is slow.', input: z.object({}), run });`,
    );
    const workers = await Promise.all([1, 2].map(() => cluster.addToolsWorker({ TOOLS_DIR: slow })));
    const joined = cluster.ingress.lines.filter(({ msg }) => msg === 'worker joined').slice(-2);
    expect(joined[0]?.['pool']).toBe(joined[1]?.['pool']);
    expect((await names()).filter((name) => name === 'slow')).toHaveLength(1);
    const answer = execute({ tool: 'slow' });
    await until(() => readFileSync(diary, 'utf8') !== '');
    const [pid = ''] = readFileSync(diary, 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
    await Promise.all(Array.from({ length: 20 }, () => run('calculator', { expression: '1 + 1' })));
    expect(await errorOf(await answer)).toMatchObject({ status: 502, error: { code: 'worker_lost' } });
    expect(readFileSync(diary, 'utf8')).toBe(`${pid}\n`);
    await Promise.all(workers.map((each) => each.stop()));
  });
});

describe('a tool whose server fails every call', () => {
  it('is not listed after three failures, and listed again after an answer; other tools of its worker are called', async () => {
    const shaky = await startShakyMcp();
    const config = join(folder, 'shaky.json');
    writeFileSync(config, JSON.stringify({ mcpServers: { shaky: { url: shaky.url } } }));
    const paced = await cluster.addToolsWorker({ MCP_CONFIG: config, ADMIN_PORT: '0' });
    const admin = await adminOf(paced);
    await until(async () => (await names()).includes('shaky'));
    expect(await textOf('shaky')).toBe('done');
    shaky.breaks(true);
    for (let at = 0; at < 3; at += 1) expect((await execute({ tool: 'shaky' })).status).toBe(502);
    await until(async () => !(await names()).includes('shaky'));
    const health = (await (await fetch(`${admin}/health`)).json()) as object;
    expect(health).toMatchObject({ status: 'serving', reason: 'tools failing: shaky' });
    expect(await metricOf(admin, 'rtr_failing_tools')).toBe(1);
    expect(await textOf('calculator', { expression: '1 + 1' })).toContain('2');
    shaky.breaks(false);
    // Only a probe reaches the server, and shows that it works.
    await until(async () => (await execute({ tool: 'shaky' })).status === 200);
    await until(async () => (await names()).includes('shaky'));
    expect(await metricOf(admin, 'rtr_failing_tools')).toBe(0);
    await paced.stop();
    await shaky.close();
  });
});

describe('a worker that stops', () => {
  /** An ingress that waits for any start of a worker. */
  const patient = useStarted(() => cluster.addIngress({ NO_WORKER_TIMEOUT_MS: '45000' }));
  beforeAll(() => until(async () => (await answerOfMcp('tools/list', patient)).includes('calculator')));

  it('leaves no server running', async () => {
    const pid = Number(await textOf('pid'));
    expect(await worker.stop()).toBe(0);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('makes lists of MCP, and calls of a known tool, wait, and then answer 503', async () => {
    const waiting = answerOfMcp('tools/list');
    const headers = { 'x-rtr-max-wait': '2' };
    const answer = await execute({ tool: 'echo', input: { message: 'hi' } }, { headers });
    expect(await errorOf(answer)).toMatchObject({ status: 503, error: { code: 'no_worker_available' } });
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(await waiting).toContain('no_worker_available');
    // The client lists the tools again.
    expect(await names()).toEqual([]);
  });

  it('lets lists of MCP wait for the next worker', async () => {
    const waiting = Promise.all(['tools/list', 'prompts/list'].map((method) => answerOfMcp(method, patient)));
    await Promise.all([cluster.addToolsWorker(), waiting]);
    const [tools, prompts] = await waiting;
    expect(tools).toContain('calculator');
    expect(prompts).toContain('"prompts":[]');
  });
});
