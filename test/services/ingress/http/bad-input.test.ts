import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { openRaw, rawHead, readRawAnswer } from '../../../helpers/clients/raw-http.ts';
import { chatRequest, useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../../../helpers/until.ts';

const mebibyte = 1024 * 1024;

const cluster = useScriptedCluster({}, {});

interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

async function errorOf(answer: Response): Promise<ErrorBody['error'] & { status: number }> {
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('x-request-id')).toBeTruthy();
  const body = (await answer.json()) as ErrorBody;
  expect(Object.keys(body)).toEqual(['error']);
  expect(Object.keys(body.error)).toEqual(['message', 'type', 'param', 'code']);
  return { status: answer.status, ...body.error };
}

const user = { role: 'user', content: 'Hello.' };
const picture = { role: 'user', content: [{ type: 'image_url', image_url: { url: 5 } }] };
const result = { role: 'tool', tool_call_id: 'call_1', content: '5' };
const unnamed = { type: 'function', function: { parameters: {} } };

const chat = (messages: object[], more: object = {}) => ({ model: 'demo', messages, ...more });

const wrong = 'invalid_type';
const missing = 'missing_required_parameter';

describe('a chat request', () => {
  it.each<[string, unknown, string | null, string | null]>([
    ['that is an array', [], wrong, null],
    ['with no message', chat([]), wrong, 'messages'],
    ['with a wrong type at depth', chat([user, picture]), wrong, 'messages[1].content[0].image_url.url'],
    ['with temperature 3', chat([user], { temperature: 3 }), wrong, 'temperature'],
    ['with an unknown role', chat([{ role: 'wizard', content: 'x' }]), wrong, 'messages[0].role'],
    ['with a tool result without a call', chat([user, result]), wrong, 'messages[1].tool_call_id'],
    ['with stream as text', chat([user], { stream: 'yes' }), wrong, 'stream'],
    ['that is an empty object', {}, missing, 'model'],
    ['without messages', { model: 'demo' }, missing, 'messages'],
    ['with a tool without a name', chat([user], { tools: [unnamed] }), missing, 'tools[0].function.name'],
    ['without a body', undefined, null, null],
    ['with an empty body', '', null, null],
    ['cut off in the middle of its JSON', JSON.stringify(chatRequest([])).slice(0, -10), null, null],
    ['that is not UTF-8', Buffer.from('{"model":"\xc3("}', 'latin1'), null, null],
    ['that is not JSON', 'model=demo', null, null],
  ])('%s is refused with what is wrong or missing', async (_, body, code, param) => {
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Buffer;
    const error = await errorOf(await cluster.postRaw(isRaw ? body : JSON.stringify(body)));
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', code, param });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '../../health', '%2e%2e'])(
    'for the model %s is answered with 404',
    async (model) => {
      const error = await errorOf(await cluster.postRaw(JSON.stringify(chatRequest([], { model }))));
      expect(error).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    },
  );

  it('with fields named like properties of Object.prototype is served, and changes none', async () => {
    const more = ',"__proto__":{"model":1},"constructor":{"x":1}}';
    const body = JSON.stringify(chatRequest([{ write: 'served' }])).replace(/}$/, more);
    expect(await (await cluster.postRaw(body)).text()).toBe('served');
  });

  it.each([
    [50_000, 400],
    [500_000, 413],
  ])('for MCP, nested %i levels deep, is answered with %i', async (depth, status) => {
    const params = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    const headers = { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json' };
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${params}}`;
    const answer = await fetch(`${cluster.url}/api/tools/mcp`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([status, { jsonrpc: '2.0', error: {} }]);
  });

  it.each(['Model', 'MAX_TOKENS', 'me\u017f\u017fages', 'Stream'])(
    'with a known field spelled %s is refused, as some decoders would read it',
    async (name) => {
      const body = JSON.stringify({ ...chatRequest([]), [name]: 'other' });
      const answer = await errorOf(await cluster.postRaw(body));
      expect(answer).toMatchObject({ status: 400, param: name });
      expect(answer.message).toContain(`the field is called '${name.toUpperCase().toLowerCase()}'`);
    },
  );

  it('with tools nested fifty thousand levels deep is refused, not an internal error', async () => {
    const depth = 50_000;
    const nested = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    const tools = `[{"type":"function","function":{"name":"f","parameters":${nested}}}]`;
    const body = JSON.stringify(chatRequest([])).replace(/}$/, `,"tools":${tools}}`);
    expect((await errorOf(await cluster.postRaw(body))).status).toBe(400);
  });
});

describe('a large body', () => {
  const tooLarge = { status: 413, type: 'invalid_request_error', code: 'request_too_large' };

  it('of 31 MiB is served', async () => {
    const answer = await cluster.post([{ write: 'served' }], { filler: 'x'.repeat(31 * mebibyte) });
    expect(await answer.text()).toBe('served');
  });

  it('of 33 MiB with a content-length is refused, and fetch receives the answer', async () => {
    expect(await errorOf(await cluster.postRaw(Buffer.alloc(33 * mebibyte, 'x')))).toMatchObject(tooLarge);
  });

  it('of 33 MiB in chunks is refused, and fetch receives the answer', async () => {
    const piece = new Uint8Array(mebibyte);
    let left = 33;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => (left-- > 0 ? controller.enqueue(piece) : controller.close()),
    });
    expect(await errorOf(await cluster.postRaw(body, { duplex: 'half' }))).toMatchObject(tooLarge);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', (data: Buffer) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
    ['zstd', zstdCompressSync],
  ])('compressed with %s is read, and refused if it is too large when decompressed', async (encoding, compress) => {
    const headers = { 'content-encoding': encoding };
    const small = compress(Buffer.from(JSON.stringify(chatRequest([{ write: 'served' }]))));
    expect(await (await cluster.postRaw(small, { headers })).text()).toBe('served');
    const bomb = compress(Buffer.alloc(33 * mebibyte));
    expect(bomb.length).toBeLessThan(mebibyte);
    expect(await errorOf(await cluster.postRaw(bomb, { headers }))).toMatchObject(tooLarge);
    for (const broken of [Buffer.concat([small.subarray(0, 20), randomBytes(20)]), small.subarray(0, -8)])
      expect(await errorOf(await cluster.postRaw(broken, { headers }))).toMatchObject({ status: 400, code: null });
  });

  it.each([
    ['of 30 KB that decompresses to ten million lists', '[],', 10_000_000, { 'content-encoding': 'gzip' }],
    ['of a million numbers', '1,', 1_000_000, {}],
  ])('%s is refused before it is parsed', async (_, value, count, headers) => {
    const text = `{"model":"m","messages":[${value.repeat(count)}1]}`;
    const body = 'content-encoding' in headers ? gzipSync(text) : text;
    expect(await errorOf(await cluster.postRaw(body, { headers }))).toMatchObject(tooLarge);
  });

  it('with a wrong key or path still gets its answer', async () => {
    const body = Buffer.alloc(20 * mebibyte, 'x');
    const wrongKey = await cluster.postRaw(body, { headers: { authorization: 'Bearer wrong' } });
    expect(await errorOf(wrongKey)).toMatchObject({ status: 401, code: 'invalid_api_key' });
    const wrongPath = await fetch(`${cluster.url}/nothing`, { method: 'POST', body });
    expect(await errorOf(wrongPath)).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('in an unknown encoding is refused', async () => {
    const answer = await cluster.postRaw('{}', { headers: { 'content-encoding': 'rot13' } });
    expect(await errorOf(answer)).toMatchObject({ status: 415, code: 'unsupported_encoding' });
  });
});

const head = (...headers: string[]): string => rawHead(cluster.key, headers);

/** Sends a text on a connection of its own, and returns the answer once the connection is closed. */
async function answerTo(text: string): Promise<ReturnType<typeof readRawAnswer>> {
  const raw = await openRaw(cluster.url);
  raw.socket.write(text);
  await raw.closed;
  return readRawAnswer(raw.text());
}

it('a connection with a header of 64 KiB is answered with 431 in JSON', async () => {
  const { status, headers, body } = await answerTo(head(`x-large: ${'x'.repeat(64 * 1024)}`));
  expect(status).toBe(431);
  expect(JSON.parse(body)).toMatchObject({ error: { type: 'invalid_request_error', code: 'headers_too_large' } });
  const id = headers['x-request-id'];
  expect(id).toMatch(/^req_/);
  const logged = expect.objectContaining({ requestId: id, code: 'headers_too_large' });
  await until(() => expect(cluster.ingress.lines).toContainEqual(logged));
});

it('a request with 201 headers is answered with 431, and one with 200 is read', async () => {
  // Besides those of `head` and the two last ones.
  const further = (count: number) => Array.from({ length: count - 4 }, (_, at) => `h${at}: 1`);
  const answerWith = (count: number) => answerTo(head(...further(count), 'content-length: 0', 'connection: close'));
  const { status, body } = await answerWith(201);
  expect(status).toBe(431);
  expect(JSON.parse(body)).toMatchObject({ error: { code: 'headers_too_large' } });
  expect((await answerWith(1_000)).status).toBe(431);
  expect((await answerWith(200)).status).toBe(400);
});

it('a connection with an endless body is answered with 413 as soon as it is too large, and not read for long', async () => {
  const raw = await openRaw(cluster.url);
  raw.socket.write(head('transfer-encoding: chunked'));
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(mebibyte), Buffer.from('\r\n')]);
  while (!raw.socket.destroyed) {
    if (raw.socket.write(chunk)) await sleep(raw.text() === '' ? 5 : 100);
    else await Promise.race([new Promise<void>((resolve) => raw.socket.once('drain', resolve)), raw.closed]);
  }
  // Reading on would have ended in the body timeout, after a minute.
  expect(readRawAnswer(raw.text()).status).toBe(413);
});

it('a connection that is not HTTP is answered with 400 in JSON', async () => {
  const { status, headers, body } = await answerTo('EHLO mail.example.org\r\n\r\n');
  expect(status).toBe(400);
  expect(headers['x-request-id']).toMatch(/^req_/);
  expect(JSON.parse(body)).toMatchObject({ error: { type: 'invalid_request_error' } });
});

it('a connection serves the next request after a refused one', async () => {
  const raw = await openRaw(cluster.url);
  raw.socket.write(`${head('content-length: 2')}{}`);
  await until(() => expect(raw.text()).toContain('"param":"model"'));
  const body = JSON.stringify(chatRequest([{ write: 'served' }]));
  raw.socket.write(head(`content-length: ${body.length}`) + body);
  await until(() => expect(raw.text()).toContain('served'));
  raw.socket.destroy();
});

it('a connection with invalid HTTP during a stream is closed, without an answer inside the stream', async () => {
  const raw = await openRaw(cluster.url);
  const body = JSON.stringify(chatRequest([{ write: 'data: 1\n\n' }, { hang: true }], { stream: true }));
  raw.socket.write(head(`content-length: ${body.length}`) + body);
  await until(() => expect(raw.text()).toContain('data: 1'));
  raw.socket.write('nonsense\r\n\r\n');
  await raw.closed;
  expect(raw.text().match(/HTTP\/1\.1/g)).toHaveLength(1);
});

it('a connection that sends one byte at a time is cut off in time, with 408 where nothing else answers', async () => {
  const { url } = await cluster.addIngress({ BODY_TIMEOUT_MS: '1500' });
  /** Sends the rest of a request byte by byte until the connection is closed. */
  const drip = async (begin: string): Promise<{ text: string; ms: number }> => {
    const raw = await openRaw(url);
    const before = performance.now();
    raw.socket.write(begin);
    const dripping = setInterval(() => raw.socket.write('a'), 100);
    await raw.closed;
    clearInterval(dripping);
    return { text: raw.text(), ms: performance.now() - before };
  };
  const form = ['content-type: application/x-www-form-urlencoded', 'content-length: 1000'];
  const forms = ['/oauth/token', '/api/anthropic/oauth/device_authorization', '/api/anthropic/v1/metrics'];
  const [answered, cut] = await Promise.all([
    Promise.all([`${head('content-length: 1000')}{`, head('x-slow: ').trimEnd()].map(drip)),
    Promise.all(forms.map((path) => drip(rawHead(cluster.key, form, path)))),
  ]);
  for (const { text } of answered) {
    const { status, headers, body } = readRawAnswer(text);
    expect(status).toBe(408);
    expect(headers).toMatchObject({ connection: 'close', 'x-request-id': expect.stringMatching(/^req_/) as string });
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'request_timeout' } });
  }
  for (const { ms } of cut) expect(ms).toBeGreaterThan(1_000);
});

describe('a path', () => {
  const ask = (path: string, method = 'GET'): Promise<Response> =>
    fetch(cluster.url + path, { method, headers: { authorization: `Bearer ${cluster.key}` } });

  it.each([
    '/api/openai/v1/models',
    '/api/openai/models',
    '/api/openai/v1/models/demo',
    '/api/openai/models/auto',
    '/health',
    '/',
  ])('%s exists', async (path) => {
    expect((await ask(path)).status).toBe(200);
  });

  it.each([
    ['/api/openai', 'not_found'],
    ['/api/openai/v2/models', 'not_found'],
    ['/api/openai//models', 'not_found'],
    ['/api/nobody/models', 'not_found'],
    ['/api/openai/chat/completions/x', 'not_found'],
    ['/metrics', 'not_found'],
    ['/api/openai/models/nobody', 'model_not_found'],
    ['/api/openai/models/__proto__', 'model_not_found'],
    ['/api/openai/models/%2e%2e%2fhealth', 'model_not_found'],
  ])('%s is answered with 404 and the code %s', async (path, code) => {
    const param = code === 'model_not_found' ? 'model' : null;
    expect(await errorOf(await ask(path))).toMatchObject({ status: 404, code, param });
  });

  it('that cannot be decoded is answered with 400', async () => {
    const text = rawHead(cluster.key, ['connection: close'], '/api/openai/models/%', 'GET');
    expect((await answerTo(text)).status).toBe(400);
  });

  it.each([
    ['GET', '/api/openai/chat/completions', 'POST'],
    ['OPTIONS', '/api/openai/chat/completions', 'POST'],
    ['DELETE', '/api/openai/v1/models/demo', 'GET, HEAD'],
    ['POST', '/api/openai/models', 'GET, HEAD'],
  ])('%s %s is refused, and the answer names the allowed methods', async (method, path, allowed) => {
    const answer = await ask(path, method);
    expect(answer.headers.get('allow')).toBe(allowed);
    expect(await errorOf(answer)).toMatchObject({ status: 405, code: 'method_not_allowed' });
  });

  it.each([
    ['/health', 200, null],
    ['/api/openai/models', 200, null],
    ['/api/openai/chat/completions', 405, 'POST'],
  ])('%s answers HEAD with %i and without a body, as it answers GET', async (path, status, allowed) => {
    const answer = await ask(path, 'HEAD');
    expect([answer.status, answer.headers.get('allow'), await answer.text()]).toEqual([status, allowed, '']);
  });
});

it('the log has the request id in every line about a request, including one that the client set', async () => {
  const requestId = `mine-${randomBytes(4).toString('hex')}`;
  const answer = await cluster.post([{ write: 'x' }], {}, { headers: { 'x-request-id': requestId } });
  expect(answer.headers.get('x-request-id')).toBe(requestId);
  const refused = await cluster.postRaw('{', { headers: { 'x-request-id': `${requestId}-2` } });
  expect(refused.headers.get('x-request-id')).toBe(`${requestId}-2`);
  const strange = await cluster.post([{ write: 'x' }], {}, { headers: { 'x-request-id': 'a b"c' } });
  expect(strange.headers.get('x-request-id')).toMatch(/^req_/);
  await strange.text();
  await until(() => expect(cluster.ingress.lines.filter((line) => line['requestId'] === requestId)).toHaveLength(1));
  const about = cluster.ingress.lines.filter(({ msg }) => /^request |^client went away$/.test(String(msg)));
  expect(about.length).toBeGreaterThan(50);
  for (const line of about) expect(line['requestId']).toEqual(expect.any(String));
});

it('the log has no key, prompt or answer', async () => {
  const secrets = { prompt: 'PROMPT-SECRET', answer: 'ANSWER-SECRET', field: 'FIELD-SECRET' };
  const fields = { messages: [{ role: 'user', content: secrets.prompt }] };
  await (await cluster.post([{ write: secrets.answer }], fields)).text();
  const failing: Step[] = [{ write: secrets.answer }, { fail: 'upstream_failed' }];
  await (await cluster.post(failing, { ...fields, stream: true })).text();
  await (await cluster.post([], { ...fields, temperature: secrets.field })).text();
  await (await cluster.postRaw(`{"x": ${secrets.field}}`)).text();
  const wrong = { authorization: `Bearer ${cluster.key}x` };
  await (await cluster.post([], fields, { headers: wrong })).text();
  await (await fetch(`${cluster.url}/api/openai/models?key=${cluster.key}`)).text();
  await until(() => cluster.ingress.lines.some(({ code }) => code === 'missing_key'));
  const text = JSON.stringify(cluster.ingress.lines);
  for (const secret of [...Object.values(secrets), cluster.key, cluster.key.slice(-20)])
    expect(text).not.toContain(secret);
});
