import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { post } from '../helpers/clients/keyed-requests.ts';
import { shareCluster, useCluster } from '../helpers/cluster/share-cluster.ts';
import { readUsage } from '../helpers/accounts/read-usage.ts';
import { adminCommandsOf } from '../helpers/rtr/admin-commands.ts';
import { temporaryFolder } from '../helpers/files/temporary-folder.ts';
import { until } from '../helpers/until.ts';

const on = { RECORDINGS: 'on', SEAL_SECRET: 'ab'.repeat(32) };

/** A key with recording switched on. */
let recorded: string;
const cluster = useCluster({ ingressOnce: on });
beforeAll(async () => {
  const { raw, id } = await cluster.addKey({ name: 'recorded' });
  await rtr('keys', 'set', id, '--records');
  recorded = raw;
});

const ask = (path: string, body: object | string, { key = recorded, ...headers }: Record<string, string> = {}) =>
  post({ ...cluster, key, path, body, headers });

function chat(content: string, more: object = {}) {
  return { model: 'demo', max_tokens: 20, messages: [{ role: 'user', content }], ...more };
}

const askChat = (content: string, headers?: Record<string, string>) =>
  ask('/openai/v1/chat/completions', chat(content), headers);

const idOf = ({ headers }: Response): string => headers.get('x-request-id') ?? '';
const rtr = adminCommandsOf(cluster);

interface Shown {
  request: string;
  answer: string;
  [name: string]: unknown;
}

/** Returns the recording of a request, once it is kept. */
async function shown(id: string): Promise<Shown> {
  let found: Shown | undefined;
  await until(async () => {
    found = await rtr.json('recordings', 'show', id).catch((error: unknown) => {
      if (/does not exist/.test(String(error))) return undefined;
      throw error;
    });
    return found !== undefined;
  });
  if (!found) throw new Error('there is no recording');
  return found;
}

describe('a recording', () => {
  const [stream, model] = [true, 'demo'];

  it.each([
    ['chat', '/openai/v1/chat/completions', chat('a prompt')],
    ['a chat stream', '/openai/v1/chat/completions', chat('a prompt', { stream })],
    ['messages', '/anthropic/v1/messages', chat('a prompt')],
    ['a messages stream', '/anthropic/v1/messages', chat('a prompt', { stream })],
    ['a response', '/openai/v1/responses', { model, input: 'a prompt', store: false }],
    ['a response stream', '/openai/v1/responses', { model, input: 'a prompt', store: false, stream }],
    ['a completion stream', '/openai/v1/completions', { model, prompt: 'a prompt', stream }],
    ['an embedding', '/openai/v1/embeddings', { model, input: 'a prompt' }],
  ])('contains, for %s, the body as received, and the bytes of the answer', async (_, path, body) => {
    const answer = await ask(path, body);
    expect(answer.headers.get('x-rtr-recorded')).toBe('true');
    const text = await answer.text();
    const facts = { model: 'demo', status: answer.status, end: 'whole', isAnswerCut: false };
    expect(await shown(idOf(answer))).toMatchObject({ request: JSON.stringify(body), answer: text, ...facts });
    expect(text.length).toBeGreaterThan(20);
  });

  it('is marked in the ledger, where `rtr` finds it', async () => {
    const ids: string[] = [];
    for (const key of [recorded, cluster.key]) {
      const answer = await askChat('Hello.', { key });
      await answer.text();
      ids.push(idOf(answer));
    }
    const found = async (...options: string[]): Promise<string[]> => {
      const lines = await rtr('usage', 'requests', ...options, '--json');
      return lines.map((line) => (JSON.parse(line) as { id: string }).id).filter((id) => ids.includes(id));
    };
    await until(async () => (await found()).length === 2);
    expect(await found('--recorded')).toEqual([ids[0]]);
    expect(await found('--no-recorded')).toEqual([ids[1]]);
  });

  it('of a background response is marked in the ledger, too, and contains what its client was sent', async () => {
    await cluster.addBatchRunner({ SEAL_SECRET: on.SEAL_SECRET });
    const ids = await Promise.all(
      [recorded, cluster.key].map(async (key) => {
        const answer = await ask('/openai/v1/responses', { model: 'demo', input: 'Hello.', background: true }, { key });
        expect(await answer.json()).toMatchObject({ status: 'queued' });
        return idOf(answer);
      }),
    );
    const marks = async () => {
      const used = await readUsage(cluster.prefix);
      return ids.map((id) => used.flatMap((record) => (record.id === id ? [record.recorded ?? false] : [])));
    };
    await until(async () => (await marks()).every(({ length }) => length > 0));
    expect(await marks()).toEqual([[true], [false]]);
    expect((await shown(ids[0] ?? '')).answer).toContain('"status":"queued"');
  });

  it('of an answer with hosted tools is marked in the ledger for each turn and each call', async () => {
    const folder = temporaryFolder();
    const config = join(folder, 'mcp.json');
    const args = [resolve('test/helpers/upstreams/mcp-test-server.ts'), join(folder, 'diary')];
    writeFileSync(config, JSON.stringify({ mcpServers: { pages: { command: 'node', args } } }));
    await cluster.addToolsWorker({ MCP_CONFIG: config });
    const input = '[demo call mcp_pages_find_pages {"query":"setts"}]\n[demo say "Found."]';
    const tools = [{ type: 'mcp', server_label: 'pages', require_approval: 'never' }];
    let id = '';
    await until(async () => {
      const answer = await ask('/openai/v1/responses', { model, input, tools, store: false });
      expect(await answer.text()).toContain('mcp_call');
      id = idOf(answer);
    });
    const records = async () => (await readUsage(cluster.prefix)).filter((record) => record.id === id);
    await until(async () => (await records()).length === 3);
    const marks = (await records()).map(({ operation, recorded: isRecorded }) => [operation, isRecorded]);
    expect(marks.toSorted((one, other) => String(one).localeCompare(String(other)))).toEqual([
      ['execute_tool', true],
      ['generate', true],
      ['generate', true],
    ]);
  });

  it('does not change the streams of the SDKs', async () => {
    const openai = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: recorded, maxRetries: 0 });
    const anthropic = new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: recorded, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hello.' }];
    const { choices } = await openai.chat.completions.create({ model: 'demo', messages });
    expect(choices[0]?.message.content).toBeTruthy();
    const message = await anthropic.messages.stream({ model: 'demo', max_tokens: 20, messages }).finalMessage();
    expect(message.content[0]).toMatchObject({ type: 'text' });
  });

  it('of a refused request contains its error', async () => {
    const path = '/openai/v1/chat/completions';
    const unknown = await ask(path, chat('a prompt', { model: 'no-such-model' }));
    expect([unknown.status, unknown.headers.get('x-rtr-recorded')]).toEqual([404, 'true']);
    const facts = { status: 404, model: 'no-such-model', answer: await unknown.text() };
    expect(await shown(idOf(unknown))).toMatchObject(facts);
    const request = '{"model": "demo", ';
    const broken = await ask(path, request);
    expect(await shown(idOf(broken))).toMatchObject({ status: 400, request, answer: await broken.text() });
  });

  it('of a request with an idempotency key exists once, not for replayed answers', async () => {
    const headers = { 'idempotency-key': 'k-1' };
    const first = await askChat('Once.', headers);
    const text = await first.text();
    expect(first.headers.get('x-rtr-recorded')).toBe('true');
    expect((await shown(idOf(first))).answer).toBe(text);
    const before = (await rtr('recordings', 'list', '--json')).length;
    expect(await (await askChat('Once.', headers)).text()).toBe(text);
    // A later request is kept, so that a recording of the replayed answer would be kept by then, too.
    await shown(idOf(await askChat('After.')));
    expect(await rtr('recordings', 'list', '--json')).toHaveLength(before + 1);
  });
});

describe('nothing is recorded', () => {
  it('for a key that is not switched on', async () => {
    const answer = await askChat('Hello.', { key: cluster.key });
    await answer.text();
    expect(answer.headers.get('x-rtr-recorded')).toBeNull();
    await shown(idOf(await askChat('After.')));
    await expect(rtr('recordings', 'show', idOf(answer))).rejects.toThrow(/does not exist/);
  });

  it('within a second of switching recording off', async () => {
    const { raw, id } = await cluster.addKey({ name: 'for a while' });
    const isRecorded = async () => {
      const answer = await askChat('Hello.', { key: raw });
      await answer.text();
      return answer.headers.has('x-rtr-recorded');
    };
    expect(await isRecorded()).toBe(false);
    await rtr('keys', 'set', id, '--records');
    await until(isRecorded);
    expect((await rtr('keys', 'show', id)).join('\n')).toMatch(/^recording +of=key since=20/m);
    await rtr('keys', 'set', id, '--no-records');
    await until(async () => !(await isRecorded()));
  });

  it('by a router without the setting, where it cannot be switched on', async () => {
    const { url } = await shareCluster();
    await until(async () => {
      const answer = await post({ url, key: recorded, body: chat('Hello.') });
      await answer.text();
      expect([answer.ok, answer.headers.get('x-rtr-recorded')]).toEqual([true, null]);
    });
    const commands = adminCommandsOf({ url, prefix: cluster.prefix });
    await expect(commands('keys', 'set', cluster.keyId, '--records')).rejects.toThrow(/without RECORDINGS=on/);
  });
});

describe('rtr recordings', () => {
  it('lists, shows, exports and deletes', async () => {
    await (await askChat('a \u001B[31mred\u001B[0m prompt', { 'x-request-id': 'red' })).text();
    await shown('red');
    const [head, first] = await rtr('recordings', 'list', '--limit', '1');
    expect(head).toMatch(/^AT +ID +RECORDED BY +NAME/);
    expect(first).toMatch(/ red +recorded +recorded +demo +200 /);
    expect(await rtr('recordings', 'list', '--request', 'red', '--json')).toHaveLength(1);
    expect(await rtr('recordings', 'list', '--request', 'blue', '--json')).toEqual([]);
    const lines = (await rtr('recordings', 'show', 'red')).join('\n');
    expect(lines).toMatch(/request +\{"model":"demo"/);
    expect(lines).not.toContain('\u001B');
    const { content } = await rtr.whole('recordings', 'export');
    const exported = { id: 'red', request: expect.stringContaining('prompt') };
    expect((JSON.parse(content) as Shown[])[0]).toMatchObject(exported);
    expect(await rtr('recordings', 'delete', 'red')).toEqual(['The recording of red is deleted.']);
    await expect(rtr('recordings', 'show', 'red')).rejects.toThrow(/does not exist/);
    const read = await rtr('audit', 'list', '--action', 'recording.*', '--json');
    const actions = read.map((line) => (JSON.parse(line) as { action: string }).action);
    expect(new Set(actions)).toEqual(new Set(['recording.read', 'recording.export', 'recording.delete']));
  });
});
