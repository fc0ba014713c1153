import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { post } from '../helpers/clients/keyed-requests.ts';
import { shareCluster, useCluster } from '../helpers/cluster/share-cluster.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { readUsage } from '../helpers/accounts/read-usage.ts';
import { readAllValues } from '../helpers/accounts/read-all-values.ts';
import { adminCommandsOf } from '../helpers/rtr/admin-commands.ts';
import { until } from '../helpers/until.ts';

const on = { RECORDINGS: 'on', SEAL_SECRET: 'ab'.repeat(32), RECORDING_BYTES: '65536' };

/** A key with recording switched on. */
let recorded: string;
const cluster = useCluster({ ingressOnce: on });
beforeAll(async () => {
  const { raw, id } = await cluster.addKey({ name: 'recorded' });
  await adminCommandsOf(cluster)('keys', 'set', id, '--records', 'on');
  recorded = raw;
});

function ask(path: string, body: object | string, { key = recorded, ...headers }: Record<string, string> = {}) {
  return fetch(`${cluster.url}/api${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const chat = (content: string, more: object = {}) => ({
  model: 'demo',
  max_tokens: 20,
  messages: [{ role: 'user', content }],
  ...more,
});

interface Shown {
  request: string;
  answer: string;
  [name: string]: unknown;
}

/** Returns the recording of a request, once it is kept. */
async function shown(id: string): Promise<Shown> {
  let found: Shown | undefined;
  await until(async () => {
    const commands = adminCommandsOf(cluster);
    found = await commands.json('recordings', 'show', id).catch((error: unknown) => {
      if (/does not exist/.test(String(error))) return undefined;
      throw error;
    });
    return found !== undefined;
  });
  if (!found) throw new Error('there is no recording');
  return found;
}

async function stored(): Promise<string> {
  const { connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
  return readAllValues(connection.redis, `${cluster.prefix}:`);
}

describe('a recording', () => {
  it.each([
    ['chat', '/openai/v1/chat/completions', chat('a marked prompt')],
    ['a chat stream', '/openai/v1/chat/completions', chat('a marked prompt', { stream: true })],
    ['messages', '/anthropic/v1/messages', chat('a marked prompt')],
    ['a messages stream', '/anthropic/v1/messages', chat('a marked prompt', { stream: true })],
    ['a response', '/openai/v1/responses', { model: 'demo', input: 'a marked prompt', store: false }],
    [
      'a response stream',
      '/openai/v1/responses',
      { model: 'demo', input: 'a marked prompt', store: false, stream: true },
    ],
    ['a completion stream', '/openai/v1/completions', { model: 'demo', prompt: 'a marked prompt', stream: true }],
    ['an embedding', '/openai/v1/embeddings', { model: 'demo', input: 'a marked prompt' }],
  ])('contains, for %s, the body as received, and the bytes of the answer', async (_, path, body) => {
    const answer = await ask(path, body);
    expect(answer.headers.get('x-rtr-recorded')).toBe('true');
    const text = await answer.text();
    const recording = await shown(answer.headers.get('x-request-id') ?? '');
    expect(recording).toMatchObject({
      request: JSON.stringify(body),
      model: 'demo',
      status: answer.status,
      end: 'whole',
    });
    expect(text.length).toBeGreaterThan(20);
    expect(recording.answer).toBe(text);
    expect(recording['isAnswerCut']).toBe(false);
  });

  it('is marked in the ledger, where `rtr` finds it', async () => {
    const ids: string[] = [];
    for (const key of [recorded, cluster.key]) {
      const answer = await ask('/openai/v1/chat/completions', chat('Hello.'), { key });
      await answer.text();
      ids.push(answer.headers.get('x-request-id') ?? '');
    }
    const rtr = adminCommandsOf(cluster);
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
        return answer.headers.get('x-request-id') ?? '';
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
    const unknown = await ask('/openai/v1/chat/completions', { ...chat('a marked prompt'), model: 'no-such-model' });
    expect([unknown.status, unknown.headers.get('x-rtr-recorded')]).toEqual([404, 'true']);
    const recording = await shown(unknown.headers.get('x-request-id') ?? '');
    expect(recording).toMatchObject({ status: 404, model: 'no-such-model', answer: await unknown.text() });
    const broken = await ask('/openai/v1/chat/completions', '{"model": "demo", ');
    expect(await shown(broken.headers.get('x-request-id') ?? '')).toMatchObject({
      status: 400,
      request: '{"model": "demo", ',
      answer: await broken.text(),
    });
  });

  it('of a cancelled request contains the sent part of its answer', async () => {
    const leaving = new AbortController();
    const answer = await post({
      url: cluster.url,
      key: recorded,
      body: chat('Hello.\n[demo tokens_per_second=5]', { stream: true, max_tokens: 500 }),
      signal: leaving.signal,
    });
    const { value } = (await answer.body?.getReader().read()) ?? {};
    leaving.abort();
    const recording = await shown(answer.headers.get('x-request-id') ?? '');
    expect(recording).toMatchObject({ end: 'cut', status: 200 });
    expect(recording.answer.startsWith(new TextDecoder().decode(value))).toBe(true);
    expect(recording.answer).not.toContain('[DONE]');
  });

  it('of a request with an idempotency key exists once, not for replayed answers', async () => {
    const headers = { 'idempotency-key': 'k-1' };
    const first = await ask('/openai/v1/chat/completions', chat('Once.'), headers);
    const text = await first.text();
    const id = first.headers.get('x-request-id') ?? '';
    expect(first.headers.get('x-rtr-recorded')).toBe('true');
    expect((await shown(id)).answer).toBe(text);
    const before = (await adminCommandsOf(cluster)('recordings', 'list', '--json')).length;
    const again = await ask('/openai/v1/chat/completions', chat('Once.'), headers);
    expect(await again.text()).toBe(text);
    // A later request is kept, so that a recording of the replayed answer would be kept by then, too.
    const after = await ask('/openai/v1/chat/completions', chat('After.'));
    await shown(after.headers.get('x-request-id') ?? '');
    expect(await adminCommandsOf(cluster)('recordings', 'list', '--json')).toHaveLength(before + 1);
  });

  it('is cut at its bound, and the request is served whole', async () => {
    const body = chat(`a marked prompt ${'x'.repeat(100_000)}`);
    const answer = await ask('/openai/v1/chat/completions', body);
    expect(answer.status).toBe(200);
    const recording = await shown(answer.headers.get('x-request-id') ?? '');
    expect(recording.request).toBe(JSON.stringify(body).slice(0, 65_536));
    expect(recording).toMatchObject({ isRequestCut: true, requestBytes: JSON.stringify(body).length });
  });

  it('is sealed in Redis, and expires', async () => {
    const answer = await ask('/openai/v1/chat/completions', chat('a very particular prompt'));
    const { id } = (await answer.json()) as { id: string };
    const recording = await shown(answer.headers.get('x-request-id') ?? '');
    expect(recording.answer).toContain(id);
    const all = await stored();
    expect(all).toContain(`recordings:recording:`);
    expect(all).not.toContain('very particular');
    expect(all).not.toContain('a marked prompt');
    expect(all).not.toContain(id);
    const { connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    for (const name of await connection.redis.keys(`${cluster.prefix}:recordings:*`)) {
      const left = await connection.redis.pttl(name);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(72 * 3_600_000);
    }
    // The scan finds unsealed text.
    await connection.redis.set(`${cluster.prefix}:control`, 'a very particular prompt');
    expect(await stored()).toContain('very particular');
    await connection.redis.del(`${cluster.prefix}:control`);
  });
});

describe('nothing is recorded', () => {
  it('for a key that is not switched on', async () => {
    const answer = await ask('/openai/v1/chat/completions', chat('Hello.'), { key: cluster.key });
    await answer.text();
    expect(answer.headers.get('x-rtr-recorded')).toBeNull();
    const after = await ask('/openai/v1/chat/completions', chat('After.'));
    await shown(after.headers.get('x-request-id') ?? '');
    await expect(
      adminCommandsOf(cluster)('recordings', 'show', answer.headers.get('x-request-id') ?? ''),
    ).rejects.toThrow(/does not exist/);
  });

  it('within a second of switching recording off', async () => {
    const { raw, id } = await cluster.addKey({ name: 'for a while' });
    const isRecorded = async () => {
      const answer = await ask('/openai/v1/chat/completions', chat('Hello.'), { key: raw });
      await answer.text();
      return answer.headers.has('x-rtr-recorded');
    };
    expect(await isRecorded()).toBe(false);
    await adminCommandsOf(cluster)('keys', 'set', id, '--records', 'on');
    await until(isRecorded);
    const lines = await adminCommandsOf(cluster)('keys', 'show', id);
    expect(lines.find((line) => line.startsWith('recorded'))).toMatch(/yes, for the key, since 20/);
    await adminCommandsOf(cluster)('keys', 'set', id, '--records', 'off');
    await until(async () => !(await isRecorded()));
  });

  it('by a router without the setting, where it cannot be switched on', async () => {
    const { url } = await shareCluster();
    const statuses: number[] = [];
    await until(async () => {
      const answer = await post({ url, key: recorded, body: chat('Hello.') });
      await answer.text();
      expect(answer.headers.get('x-rtr-recorded')).toBeNull();
      return statuses.push(answer.status) > 0 && answer.ok;
    });
    const commands = adminCommandsOf({ url, prefix: cluster.prefix });
    await expect(commands('keys', 'set', cluster.keyId, '--records', 'on')).rejects.toThrow(/without RECORDINGS=on/);
  });
});

describe('rtr recordings', () => {
  it('lists, shows, exports and deletes', async () => {
    const answer = await ask('/openai/v1/chat/completions', chat('a \u001B[31mred\u001B[0m prompt'), {
      'x-request-id': 'red',
    });
    await answer.text();
    await shown('red');
    const commands = adminCommandsOf(cluster);
    const [head, first] = await commands('recordings', 'list', '--limit', '1');
    expect(head).toMatch(/^AT \(UTC\) +ID +OWNER +KEY/);
    expect(first).toMatch(/ red +recorded +recorded +demo +200 /);
    expect(await commands('recordings', 'list', '--request', 'red', '--json')).toHaveLength(1);
    expect(await commands('recordings', 'list', '--request', 'blue', '--json')).toEqual([]);
    const lines = (await commands('recordings', 'show', 'red')).join('\n');
    expect(lines).toMatch(/request, \d+ bytes:\n\{"model":"demo"/);
    expect(lines).not.toContain('\u001B');
    const { content } = await commands.whole('recordings', 'export');
    expect((JSON.parse(content) as Shown[])[0]).toMatchObject({
      id: 'red',
      request: expect.stringContaining('prompt'),
    });
    expect(await commands('recordings', 'delete', 'red')).toEqual(['The recording of red is deleted.']);
    await expect(commands('recordings', 'show', 'red')).rejects.toThrow(/does not exist/);
    const read = await commands('audit', 'list', '--action', 'recording.*', '--json');
    const actions = read.map((line) => (JSON.parse(line) as { action: string }).action);
    expect(new Set(actions)).toEqual(new Set(['recording.read', 'recording.export', 'recording.delete']));
  });
});
