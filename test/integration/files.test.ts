import { randomBytes } from 'node:crypto';
import Anthropic, { toFile as anthropicFile } from '@anthropic-ai/sdk';
import OldAnthropic from 'anthropic-sdk-0';
import OpenAI, { toFile } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { post } from '../helpers/clients/keyed-requests.ts';
import { openRaw, readRawAnswer } from '../helpers/clients/raw-http.ts';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { until } from '../helpers/until.ts';
import { startMessagesUpstream } from '../helpers/upstreams/start-messages-upstream.ts';
import { customProvider } from '../helpers/cluster/worker-settings.ts';
import { useStarted } from '../helpers/use-started.ts';

/** An owner may store only a few pieces of this size. */
const piece = 256 * 1024;
const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(300_000)]);
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(5_000)]);

/** The same client at two ingress nodes. */
let here: OpenAI;
let there: OpenAI;
let messages: Anthropic;

const cluster = useStarted(() =>
  startCluster({
    workers: 0,
    engineUrl: 'http://127.0.0.1:9',
    ingress: {
      // The smallest size of a stream of files.
      FILES_MAX_BYTES: String(64 * 1024 ** 2),
      FILES_OWNER_BYTES: String(20 * piece),
      FILE_MAX_BYTES: String(8 * piece),
      MAX_BODY_BYTES: String(4 * piece),
      BODY_TIMEOUT_MS: '5000',
      SEAL_SECRET: randomBytes(32).toString('hex'),
    },
  }),
);
const other = useStarted(() => cluster.addIngress());
const upstream = useStarted(() => startMessagesUpstream(['reader'], () => [{ type: 'text', text: 'I have read it.' }]));
beforeAll(async () => {
  await cluster.addCloudWorker(customProvider(upstream.url, 'messages'));
  here = openaiAt(cluster.url);
  there = openaiAt(other.url, '');
  messages = anthropicAt(other.url);
});

function openaiAt(url: string, prefix = '/v1', apiKey = cluster.key): OpenAI {
  return new OpenAI({ baseURL: `${url}/api/openai${prefix}`, apiKey, maxRetries: 0 });
}

function anthropicAt(url: string, apiKey = cluster.key): Anthropic {
  return new Anthropic({ baseURL: `${url}/api/anthropic`, apiKey, maxRetries: 0 });
}

/** A client of an owner who has no files yet. */
async function newOwner(): Promise<{ raw: string; openai: OpenAI; anthropic: Anthropic }> {
  const { raw } = await cluster.addKey({});
  return { raw, openai: openaiAt(cluster.url, '/v1', raw), anthropic: anthropicAt(cluster.url, raw) };
}

async function refusal(asked: Promise<unknown>): Promise<object> {
  const error: unknown = await asked.catch((thrown: unknown) => thrown);
  if (error instanceof OpenAI.APIError)
    return { status: error.status, code: error.code, param: error.param, message: error.message };
  if (error instanceof Anthropic.APIError) {
    const { status, error: body } = error;
    return { status, ...(body as { error: object }).error };
  }
  throw new Error('it was not refused', { cause: error });
}

const upload = (body: string, headers: Record<string, string>): Promise<Response> =>
  post({ ...cluster, path: '/openai/v1/files', body, headers });

const userFile = async (bytes: Uint8Array, name = 'a.bin') =>
  ({ purpose: 'user_data', file: await toFile(bytes, name) }) as const;

/** Returns the beginning of an upload, up to the bytes of its file. */
function begunUpload(key: string, length: number): string {
  const head = [
    'POST /api/openai/v1/files HTTP/1.1',
    'host: router',
    `authorization: Bearer ${key}`,
    'content-type: multipart/form-data; boundary=b',
    `content-length: ${length}`,
  ];
  const file = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
  return `${head.join('\r\n')}\r\n\r\n${file}`;
}

/** Returns the blocks of the last message that the upstream received. */
function lastBlocks(): JsonObject[] {
  const content = upstream.calls.at(-1)?.body.messages.at(-1)?.content;
  return Array.isArray(content) ? content : [];
}

describe('the files of the chat format', () => {
  it('are uploaded at one ingress, and shown, read and removed at another', async () => {
    const bytes = randomBytes(6 * piece);
    const file = await here.files.create(await userFile(bytes, 'données (1).bin'));
    expect(file).toMatchObject({
      id: expect.stringMatching(/^file-rtr[0-9a-f]{24}$/) as string,
      object: 'file',
      bytes: bytes.length,
      created_at: expect.closeTo(Date.now() / 1000, -1) as number,
      expires_at: null,
      filename: 'données (1).bin',
      purpose: 'user_data',
      status: 'processed',
      status_details: null,
    });
    expect(await there.files.retrieve(file.id)).toEqual(file);
    expect(await here.files.waitForProcessing(file.id)).toEqual(file);
    const content = await there.files.content(file.id);
    expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
    expect(content.headers.get('content-disposition')).toContain("filename*=UTF-8''donn%C3%A9es%20%281%29.bin");
    expect(await there.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
    const unknown = { status: 404, code: 'not_found', param: 'id', message: `404 No such File object: ${file.id}` };
    for (const act of ['retrieve', 'content', 'delete'] as const)
      expect(await refusal(here.files[act](file.id))).toEqual(unknown);
  });

  it('are listed in both orders, by purpose and page by page', async () => {
    const { openai } = await newOwner();
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      const file = await toFile(Buffer.from('{}\n'), `${at}.jsonl`);
      ids.push((await openai.files.create({ purpose: at === 2 ? 'assistants' : 'batch', file })).id);
    }
    const listed = async (query: object): Promise<string[]> => {
      const found: string[] = [];
      for await (const { id } of openai.files.list(query)) found.push(id);
      return found;
    };
    expect(await listed({ limit: 2 })).toEqual(ids.toReversed());
    expect(await listed({ order: 'asc', limit: 3 })).toEqual(ids);
    expect(await listed({ purpose: 'assistants' })).toEqual([ids[2]]);
    const first = await openai.files.list({ limit: 2, purpose: 'batch' });
    expect(first).toMatchObject({ has_more: true });
    for (const query of [{ limit: 0 }, { limit: 10_001 }, { order: 'up' as 'asc' }])
      expect(await refusal(openai.files.list(query))).toMatchObject({ status: 400 });
    expect(await refusal(openai.files.list({ after: 'file-unknown' }))).toMatchObject({ status: 404 });
  });

  it('expire as their upload says, and those for a batch after 30 days', async () => {
    const create = async (fields: object): Promise<number | undefined> => {
      const made = await here.files.create({ ...(await userFile(Buffer.from('{}'), 'a.json')), ...fields });
      return made.expires_at && made.expires_at - made.created_at;
    };
    expect(await create({ expires_after: { anchor: 'created_at', seconds: 3_600 } })).toBe(3_600);
    expect(await create({ purpose: 'batch' })).toBe(30 * 86_400);
    const wrong: [object, string][] = [
      [{ expires_after: { anchor: 'created_at', seconds: 5 } }, 'expires_after[seconds]'],
      [{ expires_after: { anchor: 'now', seconds: 3_600 } }, 'expires_after[anchor]'],
      [{ purpose: 'nonsense' }, 'purpose'],
    ];
    for (const [fields, param] of wrong) expect(await refusal(create(fields))).toMatchObject({ status: 400, param });
  });

  it('have ranges', async () => {
    const bytes = randomBytes(500_000);
    const { id } = await here.files.create(await userFile(bytes));
    const read = (range: string, method = 'GET'): Promise<Response> =>
      fetch(`${other.url}/api/openai/v1/files/${id}/content`, {
        method,
        headers: { authorization: `Bearer ${cluster.key}`, range },
      });
    for (const [range, from, to] of [
      ['bytes=0-0', 0, 1],
      ['bytes=262143-262145', 262_143, 262_146],
      ['bytes=499990-', 499_990, 500_000],
      ['bytes=-7', 499_993, 500_000],
      ['bytes=100-9999999', 100, 500_000],
    ] as const) {
      const answer = await read(range);
      expect(answer.status, range).toBe(206);
      expect(answer.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/500000`);
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes.subarray(from, to)), range).toBe(true);
    }
    for (const whole of ['bytes=0-1,5-6', 'lines=1-2', 'bytes=9-3', 'bytes=-'])
      expect((await read(whole)).status, whole).toBe(200);
    const beyond = await read('bytes=500000-');
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */500000']);
    const head = await read('', 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '500000']);
  });
});

describe('the files of the messages format', () => {
  it('are uploaded, shown, read and removed', async () => {
    const report = await anthropicFile(pdf, 'report.pdf', { type: 'application/pdf' });
    const file = await messages.beta.files.upload({ file: report, betas: ['files-api-2025-04-14'] });
    expect(file).toMatchObject({
      id: expect.stringMatching(/^file_rtr[0-9a-f]{24}$/) as string,
      type: 'file',
      filename: 'report.pdf',
      mime_type: 'application/pdf',
      size_bytes: pdf.length,
      downloadable: true,
      expires_at: null,
    });
    expect(Math.abs(Date.parse(file.created_at) - Date.now())).toBeLessThan(10_000);
    expect(await messages.beta.files.retrieveMetadata(file.id)).toMatchObject({ id: file.id, size_bytes: pdf.length });
    const content = await messages.beta.files.download(file.id);
    expect(Buffer.from(await content.arrayBuffer()).equals(pdf)).toBe(true);
    expect(await messages.beta.files.delete(file.id)).toEqual({ id: file.id, type: 'file_deleted' });
    const unknown = { status: 404, type: 'not_found_error', message: `File not found: ${file.id}` };
    expect(await refusal(messages.beta.files.retrieveMetadata(file.id))).toEqual(unknown);
    const picture = await anthropicFile(png, 'a.png');
    const soon = await messages.beta.files.upload({ file: picture, expires_in_seconds: 7_200 });
    expect(Date.parse(soon.expires_at ?? '') - Date.parse(soon.created_at)).toBe(7_200_000);
  });

  it('are unnamed when their part of the form has no filename', async () => {
    const head = 'content-disposition: form-data; name="file"\r\ncontent-type: application/octet-stream';
    const answer = await fetch(`${other.url}/api/anthropic/v1/files`, {
      method: 'POST',
      headers: { 'x-api-key': cluster.key, 'content-type': 'multipart/form-data; boundary=edge' },
      body: `--edge\r\n${head}\r\n\r\nsome bytes\r\n--edge--\r\n`,
    });
    expect(await answer.json()).toMatchObject({ filename: 'unnamed', size_bytes: 10 });
  });

  it('are listed by the pages of every SDK, and by ids', async () => {
    const { raw, anthropic } = await newOwner();
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1)
      ids.push((await anthropic.beta.files.upload({ file: await anthropicFile(Buffer.from('x'), `${at}.txt`) })).id);
    const older = new OldAnthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: raw, maxRetries: 0 });
    for (const client of [anthropic, older]) {
      const found: string[] = [];
      for await (const { id } of client.beta.files.list({ limit: 2 })) found.push(id);
      expect(found).toEqual(ids.toReversed());
    }
    const some = await anthropic.beta.files.list({ ids: [ids[1] ?? '', 'file_unknown', ids[3] ?? ''] });
    expect(some.data.map(({ id }) => id)).toEqual([ids[1], ids[3]]);
    const page = async (query: string): Promise<unknown> => {
      const answer = await fetch(`${cluster.url}/api/anthropic/v1/files?${query}`, { headers: { 'x-api-key': raw } });
      const { data, ...rest } = (await answer.json()) as { data: { id: string }[] };
      return { ids: data.map(({ id }) => id), ...rest };
    };
    const [first, , third, , fifth] = ids;
    const places = { first_id: third, last_id: ids[1], next_page: null };
    expect(await page(`limit=2&before_id=${first}`)).toEqual({ ids: [third, ids[1]], has_more: true, ...places });
    expect(await page(`limit=3&after_id=${fifth}`)).toMatchObject({ ids: [ids[3], third, ids[1]], has_more: true });
  });

  it('are those of the chat format, each shown in its own way', async () => {
    const file = await here.files.create({ file: await toFile(png, 'a.png'), purpose: 'vision' });
    const shown = await messages.beta.files.retrieveMetadata(file.id.replace('file-', 'file_'));
    expect(shown).toMatchObject({ filename: 'a.png', mime_type: 'image/png', size_bytes: png.length });
    const { anthropic: stranger } = await newOwner();
    expect(await refusal(stranger.beta.files.retrieveMetadata(shown.id))).toMatchObject({ status: 404 });
  });
});

describe('an upload', () => {
  it('that is too large, or has too many lines, is refused in the format of the client, and leaves nothing', async () => {
    const { openai, anthropic } = await newOwner();
    const large = openai.files.create(await userFile(randomBytes(8 * piece + 1)));
    expect(await refusal(large)).toMatchObject({ status: 413, code: 'request_too_large' });
    const file = await anthropicFile(randomBytes(8 * piece + 1), 'a.bin');
    const refused = { status: 413, type: 'request_too_large' };
    expect(await refusal(anthropic.beta.files.upload({ file }))).toMatchObject(refused);
    const lines = await toFile(Buffer.from('{}\n'.repeat(50_001)), 'a.jsonl');
    expect(await refusal(openai.files.create({ file: lines, purpose: 'batch' }))).toMatchObject({
      status: 400,
      message: '400 The file has 50001 lines: a batch may have 50000.',
    });
    expect((await openai.files.list()).data).toEqual([]);
    // Everything reserved is free again.
    for (let at = 0; at < 2; at += 1) await openai.files.create(await userFile(randomBytes(8 * piece)));
  });

  it('beyond the quota of its owner is refused, whatever its order and however many come at once', async () => {
    const { openai, anthropic } = await newOwner();
    const create = async () => (await openai.files.create(await userFile(randomBytes(3 * piece)))).id;
    const outcomes = await Promise.allSettled(Array.from({ length: 9 }, create));
    const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    // The first upload reserves most of the quota until its end is read. The others share the rest, which may be too little for each.
    expect(made.length).toBeGreaterThanOrEqual(1);
    expect(made.length).toBeLessThanOrEqual(6);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ status: 403, code: 'storage_quota_exceeded' });
    for (let left = made.length; left < 6; left += 1) await create();
    expect(await refusal(create())).toMatchObject({ status: 403 });
    const file = await anthropicFile(randomBytes(3 * piece), 'a.bin');
    const denied = { status: 403, type: 'permission_error' };
    expect(await refusal(anthropic.beta.files.upload({ file }))).toMatchObject(denied);
    await openai.files.delete(made[0] ?? '');
    await create();
  });

  it('that is cut off leaves nothing, and what it has reserved is free', async () => {
    const { raw, openai } = await newOwner();
    for (let at = 0; at < 3; at += 1) {
      const { socket } = await openRaw(cluster.url);
      socket.write(begunUpload(raw, 8 * piece));
      await new Promise((resolve) => socket.write(randomBytes(3 * piece), resolve));
      socket.destroy();
    }
    await until(async () => {
      const { id } = await openai.files.create(await userFile(randomBytes(8 * piece)));
      const listed = (await openai.files.list()).data.map((file) => file.id);
      return listed.includes(id) && listed.length === 2;
    });
    expect(cluster.ingress.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  it('that stalls is refused in time', async () => {
    const { socket, text, closed } = await openRaw(cluster.url);
    socket.write(`${begunUpload(cluster.key, 5_000)}abc`);
    await closed;
    expect(readRawAnswer(text())).toMatchObject({ status: 408 });
  });

  const multipart = { 'content-type': 'multipart/form-data; boundary=b' };
  const field = (name: string, value: string) =>
    `--b\r\ncontent-disposition: form-data; name=${name}\r\n\r\n${value}\r\n`;
  const file = field('"file"; filename="a"', 'abc');
  const end = '--b--\r\n';

  const missing = 'missing_required_parameter';
  const zipped = { 'content-encoding': 'gzip' };

  it.each<[string, string, object, object?, number?]>([
    ['without a form', '{}', { code: 'invalid_type' }, { 'content-type': 'application/json' }],
    ['of a form that does not end', file.trimEnd(), { code: 'invalid_type' }],
    ['without a file', field('"purpose"', 'batch') + end, { code: missing, param: 'file' }],
    ['without a purpose', file + end, { code: missing, param: 'purpose' }],
    ['of two files', file + file + end, { message: 'The form has too many files: 1 is the most.' }],
    ['with a field that is too long', field('"purpose"', 'a'.repeat(132_000)) + end, { param: 'purpose' }],
    ['that is compressed', 'x', { code: 'unsupported_encoding' }, zipped, 415],
  ])('%s is refused with the reason', async (_, body, error, headers = {}, status = 400) => {
    const answer = await upload(body, { ...multipart, ...headers });
    expect([answer.status, await answer.json()]).toMatchObject([status, { error }]);
  });

  it('has the file before or behind the purpose', async () => {
    const named = field('"file"; filename="../a/b.txt"', 'abc');
    const purpose = field('"purpose"', 'user_data');
    for (const body of [named + purpose + end, purpose + named + end]) {
      const answer = await upload(body, multipart);
      expect(await answer.json()).toMatchObject({ filename: 'b.txt', bytes: 3, purpose: 'user_data' });
    }
  });

  it('is refused by another method, and without a key', async () => {
    const headers = { authorization: `Bearer ${cluster.key}` };
    const wrong = await fetch(`${cluster.url}/api/openai/v1/files`, { method: 'PUT', headers });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    expect((await fetch(`${cluster.url}/api/anthropic/v1/files`)).status).toBe(401);
  });
});

describe('a request that names files', () => {
  const text = 'A "quoted" line,\nand anöther — 🙂.';

  async function uploads() {
    const [document, image, note] = await Promise.all([
      here.files.create(await userFile(pdf, 'report.pdf')),
      here.files.create(await userFile(png, 'image.png')),
      here.files.create(await userFile(Buffer.from(text), 'note.txt')),
    ]);
    return { document: document.id, image: image.id, note: note.id };
  }

  const base64 = (bytes: Buffer, media_type: string) => ({
    type: 'base64',
    media_type,
    data: bytes.toString('base64'),
  });
  const documentBlock = { type: 'document', source: base64(pdf, 'application/pdf') };
  const imageBlock = { type: 'image', source: base64(png, 'image/png') };
  const noteBlock = { type: 'text', text: `note.txt\n\n${text}` };

  const askAbout = (client: Anthropic, content: Anthropic.Beta.BetaContentBlockParam[]) =>
    client.beta.messages.create({
      model: 'reader',
      max_tokens: 10,
      betas: ['files-api-2025-04-14'],
      messages: [{ role: 'user', content }],
    });
  const chatAbout = (client: OpenAI, ...ids: string[]) => {
    const content = ids.map((id) => ({ type: 'file' as const, file: { file_id: id } }));
    return client.chat.completions.create({ model: 'reader', messages: [{ role: 'user', content }] });
  };

  it('has them as inputs in the chat format', async () => {
    const { document, image, note } = await uploads();
    const content = [
      { type: 'text' as const, text: 'Read these.' },
      ...[document, image, note, image].map((id) => ({ type: 'file' as const, file: { file_id: id } })),
    ];
    const answer = await there.chat.completions.create({ model: 'reader', messages: [{ role: 'user', content }] });
    expect(answer.choices[0]?.message.content).toBe('I have read it.');
    expect(lastBlocks()).toMatchObject([{ type: 'text' }, documentBlock, imageBlock, noteBlock, imageBlock]);
  });

  it('has them as inputs in the Responses format, also in what it continues', async () => {
    const { document, image, note } = await uploads();
    const content = [
      { type: 'input_file' as const, file_id: document },
      { type: 'input_image' as const, file_id: image, detail: 'auto' as const },
      { type: 'input_file' as const, file_id: note },
    ];
    const first = await here.responses.create({ model: 'reader', input: [{ role: 'user', content }] });
    expect(lastBlocks()).toMatchObject([documentBlock, imageBlock, noteBlock]);
    // Stored items contain the ids.
    const items = await there.responses.inputItems.list(first.id);
    expect(items.data[0]).toMatchObject({ content: [{ file_id: document }, { file_id: image }, { file_id: note }] });
    await there.responses.create({ model: 'reader', input: 'And?', previous_response_id: first.id });
    expect(upstream.calls.at(-1)?.body.messages[0]?.content).toMatchObject([documentBlock, imageBlock, noteBlock]);
  });

  it('has them as inputs in the messages format', async () => {
    const ids = await uploads();
    const [document, image, note] = [ids.document, ids.image, ids.note].map((id) => ({
      type: 'file' as const,
      file_id: id.replace('file-', 'file_'),
    }));
    if (!document || !image || !note) throw new Error('an upload is missing');
    const report = { title: 'The report', citations: { enabled: true } };
    await askAbout(messages, [
      { type: 'document', source: document, ...report },
      { type: 'image', source: image },
      { type: 'document', source: note },
    ]);
    expect(lastBlocks()).toMatchObject([
      { ...documentBlock, ...report },
      imageBlock,
      { type: 'document', title: 'note.txt', source: { type: 'text', media_type: 'text/plain', data: text } },
    ]);
  });

  it('is refused in its format for a file that is unknown, of another owner, or not allowed there', async () => {
    const { document, image } = await uploads();
    const { openai, anthropic } = await newOwner();
    const binary = await here.files.create(await userFile(randomBytes(10)));
    const unknown = `file-rtr${'0'.repeat(24)}`;
    const calls = upstream.calls.length;
    for (const [client, id] of [
      [here, unknown],
      [openai, document],
    ] as const)
      expect(await refusal(chatAbout(client, id))).toEqual({
        status: 404,
        code: 'not_found',
        param: 'messages[0].content[0]',
        message: `404 No such File object: ${id}`,
      });
    expect(await refusal(chatAbout(here, binary.id))).toMatchObject({ status: 400, param: 'messages[0].content[0]' });
    const notAnImage = here.responses.create({
      model: 'reader',
      input: [{ role: 'user', content: [{ type: 'input_image', file_id: document, detail: 'auto' }] }],
    });
    expect(await refusal(notAnImage)).toMatchObject({ status: 400, param: 'input[0].content[0].file_id' });
    const ask = (client: Anthropic, id: string) =>
      askAbout(client, [{ type: 'document', source: { type: 'file', file_id: id.replace('-', '_') } }]);
    expect(await refusal(ask(anthropic, document))).toMatchObject({ status: 404, type: 'not_found_error' });
    expect(await refusal(ask(messages, image))).toMatchObject({
      status: 400,
      message:
        "messages.0.content.0.source: the file 'image.png' is an image, which belongs in a block of the type 'image'",
    });
    expect(upstream.calls.length).toBe(calls);
  });

  it('is refused when it is too large with them', async () => {
    const bytes = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(2 * piece)]);
    const { id } = await here.files.create(await userFile(bytes, 'a.pdf'));
    expect((await chatAbout(here, id)).choices.length).toBe(1);
    expect(await refusal(chatAbout(here, id, id))).toMatchObject({ status: 413 });
  });

  it('has ids of a vendor passed on to an upstream of its format, and refused elsewhere', async () => {
    const source = { type: 'file' as const, file_id: 'file_011CNha8iCJcU1wXNR6q4V8w' };
    await askAbout(messages, [{ type: 'document', source }]);
    expect(lastBlocks()).toMatchObject([{ type: 'document', source }]);
    expect(await refusal(chatAbout(here, 'file-abc123'))).toMatchObject({ status: 400 });
  });
});
