import { beforeAll, describe, expect, it } from 'vitest';
import { chatLine } from '../../helpers/batches/batch-clients.ts';
import { get, newKey, post } from '../../helpers/clients/keyed-requests.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import { newAdministrator } from '../../helpers/console/new-administrator.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

/* Every POST of the APIs, executed once with an idempotency key, and replayed at another ingress. */

const models = 'vectors,ranker,judge,painter,speaker,scribe';
const operations =
  'vectors=embed ranker=rank judge=moderate painter=draw+redraw speaker=speak scribe=transcribe+translate';

const cluster = useCluster();
const other = useStarted(() => cluster.otherIngress());
beforeAll(async () => {
  const engine = { DEMO_MODELS: models, DEMO_OPERATIONS: operations };
  await Promise.all([cluster.addEngine(engine), cluster.addToolsWorker()]);
});

const said = [{ role: 'user', content: 'Hello.\n[demo tokens=5]' }];

/** Returns a form with a file. Its boundary differs each time. */
function form(content: string, fields: Record<string, string>, field = 'file', name = 'a.bin'): FormData {
  const made = new FormData();
  for (const [key, value] of Object.entries(fields)) made.append(key, value);
  made.append(field, new Blob([content], { type: 'application/octet-stream' }), name);
  return made;
}

const answering = { model: 'demo', max_tokens: 5, messages: said };
const line = JSON.stringify(chatLine('a', 'Hello.\n[demo tokens=5]'));

/** The request to each endpoint, and the number of jobs in one execution. */
const endpoints: { path: string; body: () => object; other: () => object; records: number }[] = [
  json('/openai/v1/chat/completions', { model: 'demo', messages: said }),
  json('/openai/v1/chat/completions', { model: 'demo', messages: said, stream: true }),
  json('/openai/v1/completions', { model: 'demo', prompt: 'Hello.\n[demo tokens=5]' }),
  json('/openai/v1/responses', { model: 'demo', input: 'Hello.\n[demo tokens=5]' }),
  json('/openai/v1/responses', { model: 'demo', input: 'Hello.\n[demo tokens=5]', background: true }, 0),
  json('/openai/v1/responses/compact', { model: 'demo', input: 'Hello.\n[demo tokens=5]' }),
  json('/openai/v1/responses/input_tokens', { model: 'demo', input: 'Hello.' }),
  json('/openai/v1/embeddings', { model: 'vectors', input: 'Hello.' }),
  json('/openai/v1/moderations', { model: 'judge', input: 'Hello.' }),
  json('/openai/v1/rerank', { model: 'ranker', query: 'Hello', documents: ['Hello.', 'No.'] }),
  json('/openai/v1/images/generations', { model: 'painter', prompt: 'A cat' }),
  json('/openai/v1/audio/speech', { model: 'speaker', input: 'Hello.', voice: 'alloy' }),
  json('/anthropic/v1/messages', { model: 'demo', messages: said, max_tokens: 50 }),
  json('/anthropic/v1/messages/count_tokens', { model: 'demo', messages: said }),
  upload('/openai/v1/images/edits', 'picture', { model: 'painter', prompt: 'A cat' }, 1, 'image', 'a.png'),
  upload('/openai/v1/audio/transcriptions', 'sound', { model: 'scribe' }),
  upload('/openai/v1/audio/translations', 'sound', { model: 'scribe' }),
  upload('/openai/v1/files', line, { purpose: 'batch' }, 0),
  json('/tools/v1/execute', { tool: 'calculator', input: { expression: '6 * 7' } }),
  json('/anthropic/v1/messages/batches', { requests: [{ custom_id: 'a', params: answering }] }, 0),
];

function json(path: string, body: object, records = 1) {
  return { path, body: () => body, other: () => ({ ...body, user: 'other' }), records };
}

function upload(path: string, content: string, fields: Record<string, string>, records = 1, ...named: string[]) {
  const of = (sent: string) => () => form(sent, fields, ...named);
  return { path, body: of(content), other: of(`${content}\n`), records };
}

function send(url: string, path: string, key: string, body: object): Promise<Response> {
  return post({ url, key: cluster.key, path, body, headers: { 'idempotency-key': key } });
}

describe('a POST with an idempotency key', () => {
  it.each(endpoints)('to $path is executed once', async ({ path, body, other: changed, records }) => {
    const before = (await readUsage(cluster.prefix, cluster.keyId)).length;
    const key = newKey();
    const first = await send(cluster.url, path, key, body());
    const bytes = Buffer.from(await first.arrayBuffer());
    expect([first.status, first.status === 200 ? '' : bytes.toString()]).toEqual([200, '']);
    const again = await send(other.url, path, key, body());
    const replayed = Buffer.from(await again.arrayBuffer());
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(again.headers.get('original-request')).toBe(first.headers.get('x-request-id'));
    for (const name of ['content-type', 'x-rtr-worker', 'x-rtr-tier'])
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    expect(replayed.equals(bytes)).toBe(true);
    const refused = await send(other.url, path, key, changed());
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain('Idempotency-Key');
    await until(async () => (await readUsage(cluster.prefix, cluster.keyId)).length >= before + records);
    expect((await readUsage(cluster.prefix, cluster.keyId)).length).toBe(before + records);
  });

  it('whose answer broke off gets all of it that came when it is sent again', async () => {
    const key = newKey();
    const body = {
      model: 'speaker',
      input: '[demo fault=drop after=5]\nOne two three four five six seven.',
      voice: 'alloy',
    };
    const read = async (url: string) => {
      const answer = await send(url, '/openai/v1/audio/speech', key, body);
      const reader = (answer.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
      let bytes = 0;
      const isCut = await (async () => {
        for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length;
      })().then(
        () => false,
        () => true,
      );
      return { status: answer.status, isCut, bytes, isReplayed: answer.headers.get('idempotent-replayed') };
    };
    const first = await read(cluster.url);
    expect(first).toMatchObject({ status: 200, isCut: true, isReplayed: null });
    expect(first.bytes).toBeGreaterThan(1_000);
    expect(await read(other.url)).toEqual({ ...first, isReplayed: 'true' });
  });

  it('creates one file, and one batch of it, which is cancelled once', async () => {
    const list = async (path: string) => {
      const answer = await get(cluster, `/openai/v1${path}`);
      return ((await answer.json()) as { data: { id: string }[] }).data.length;
    };
    const files = await list('/files');
    const [fileKey, batchKey, cancelKey] = [newKey(), newKey(), newKey()];
    const sent = await Promise.all(
      [cluster.url, other.url, cluster.url, other.url].map((url) =>
        send(url, '/openai/v1/files', fileKey, form(line, { purpose: 'batch' })),
      ),
    );
    const ids = await Promise.all(sent.map(async (answer) => ((await answer.json()) as { id: string }).id));
    expect(new Set(ids).size).toBe(1);
    expect(await list('/files')).toBe(files + 1);
    const batches = await list('/batches');
    const batch = { input_file_id: ids[0], endpoint: '/v1/chat/completions', completion_window: '24h' };
    const urls = [cluster.url, other.url];
    const created = await Promise.all(urls.map((url) => send(url, '/openai/v1/batches', batchKey, batch)));
    const batchIds = await Promise.all(created.map(async (answer) => ((await answer.json()) as { id: string }).id));
    expect(new Set(batchIds).size).toBe(1);
    expect(await list('/batches')).toBe(batches + 1);
    const path = `/openai/v1/batches/${batchIds[0]}/cancel`;
    const cancelled = await (await send(cluster.url, path, cancelKey, {})).text();
    const again = await send(other.url, path, cancelKey, {});
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.text()).toBe(cancelled);
  });

  it('to MCP or to the console is served as a request without one', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const headers = { 'idempotency-key': 'one', accept: 'application/json, text/event-stream' };
    for (const _ of [1, 2]) {
      const answer = await post({ ...cluster, path: '/tools/mcp', body, headers });
      expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, null]);
      await answer.text();
    }
    const { client: ada } = await newAdministrator(cluster);
    const made = { kind: 'user', name: 'k', class: 'normal', limits: {} };
    const keys = [];
    for (const _ of [1, 2]) {
      const answer = await ada.ask('POST', '/keys', made, { 'idempotency-key': 'one' });
      expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, null]);
      keys.push(answer.body.raw);
    }
    expect(new Set(keys).size).toBe(2);
  });
});
