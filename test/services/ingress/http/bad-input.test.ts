import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { openRaw, readRawAnswer } from '../../../helpers/clients/raw-http.ts';
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

describe('a chat request', () => {
  it.each<[string, unknown, string | null]>([
    ['that is an array', [], null],
    ['with no message', chat([]), 'messages'],
    ['with a wrong type at depth', chat([user, picture]), 'messages[1].content[0].image_url.url'],
    ['with temperature 3', chat([user], { temperature: 3 }), 'temperature'],
    ['with an unknown role', chat([{ role: 'wizard', content: 'x' }]), 'messages[0].role'],
    ['with a tool result without a call', chat([user, result]), 'messages[1].tool_call_id'],
    ['with stream as text', chat([user], { stream: 'yes' }), 'stream'],
  ])('%s is refused with the field that is wrong', async (_, body, param) => {
    const error = await errorOf(await cluster.postRaw(JSON.stringify(body)));
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', code: 'invalid_type', param });
  });

  it.each<[string, unknown, string]>([
    ['that is an empty object', {}, 'model'],
    ['without messages', { model: 'demo' }, 'messages'],
    ['with a tool without a name', chat([user], { tools: [unnamed] }), 'tools[0].function.name'],
  ])('%s is refused with the field that is missing', async (_, body, param) => {
    const error = await errorOf(await cluster.postRaw(JSON.stringify(body)));
    const code = 'missing_required_parameter';
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', code, param });
  });

  it.each<[string, RequestInit['body']]>([
    ['without a body', undefined],
    ['with an empty body', ''],
    ['cut off in the middle of its JSON', JSON.stringify(chatRequest([])).slice(0, -10)],
    ['that is not UTF-8', Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])],
    ['that is not JSON', 'model=demo'],
  ])('%s is refused as bad JSON', async (_, body) => {
    const error = await errorOf(await cluster.postRaw(body));
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', code: null, param: null });
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
    const answer = await fetch(`${cluster.url}/api/tools/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json' },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${params}}`,
    });
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
    const answer = await cluster.postRaw(body);
    expect((await errorOf(answer)).status).toBe(400);
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
      pull: (controller) => {
        left -= 1;
        if (left < 0) controller.close();
        else controller.enqueue(piece);
      },
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
    const broken = Buffer.concat([small.subarray(0, 20), randomBytes(20)]);
    expect(await errorOf(await cluster.postRaw(broken, { headers }))).toMatchObject({ status: 400, code: null });
    const cut = small.subarray(0, small.length - 8);
    expect(await errorOf(await cluster.postRaw(cut, { headers }))).toMatchObject({ status: 400, code: null });
  });

  it.each([
    ['of 30 KB that decompresses to ten million lists', '[],', 10_000_000, { 'content-encoding': 'gzip' }],
    ['of a million numbers', '1,', 1_000_000, {}],
  ])('%s is refused before it is parsed', async (_, value, count, headers) => {
    const text = `{"model":"m","messages":[${value.repeat(count)}1]}`;
    const body = 'content-encoding' in headers ? gzipSync(text) : text;
    const answer = cluster.postRaw(body, { headers });
    expect(await errorOf(await answer)).toMatchObject(tooLarge);
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

/** Returns the head of a request, up to the part that is sent first. */
function head(more: string, path = '/api/openai/chat/completions', method = 'POST'): string {
  return `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${cluster.key}\r\n${more}`;
}

describe('a connection', () => {
  it('with a header of 64 KiB is answered with 431 in JSON', async () => {
    const raw = await openRaw(cluster.url);
    raw.socket.write(head(`x-large: ${'x'.repeat(64 * 1024)}\r\n\r\n`));
    await raw.closed;
    const { status, headers, body } = readRawAnswer(raw.text());
    expect(status).toBe(431);
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'invalid_request_error', code: 'headers_too_large' } });
    const id = headers['x-request-id'];
    expect(id).toMatch(/^req_/);
    const logged = expect.objectContaining({ requestId: id, code: 'headers_too_large' });
    await until(() => expect(cluster.ingress.lines).toContainEqual(logged));
  });

  it('with an endless body is answered with 413 as soon as it is too large, and not read for long', async () => {
    const raw = await openRaw(cluster.url);
    raw.socket.write(head('transfer-encoding: chunked\r\n\r\n'));
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(mebibyte), Buffer.from('\r\n')]);
    const before = performance.now();
    while (!raw.socket.destroyed) {
      if (raw.socket.write(chunk)) await sleep(raw.text() === '' ? 5 : 100);
      else await Promise.race([new Promise<void>((resolve) => raw.socket.once('drain', resolve)), raw.closed]);
    }
    expect(readRawAnswer(raw.text()).status).toBe(413);
    // Reading on would have ended in the body timeout.
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  it('that is not HTTP is answered with 400 in JSON', async () => {
    const raw = await openRaw(cluster.url);
    raw.socket.write('EHLO mail.example.org\r\n\r\n');
    await raw.closed;
    const { status, headers, body } = readRawAnswer(raw.text());
    expect(status).toBe(400);
    expect(headers['x-request-id']).toMatch(/^req_/);
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('serves the next request after a refused one', async () => {
    const raw = await openRaw(cluster.url);
    raw.socket.write(`${head('content-length: 2\r\n\r\n')}{}`);
    await until(() => expect(raw.text()).toContain('"param":"model"'));
    const body = JSON.stringify(chatRequest([{ write: 'served' }]));
    raw.socket.write(`${head(`content-length: ${body.length}\r\n\r\n`)}${body}`);
    await until(() => expect(raw.text()).toContain('served'));
    raw.socket.destroy();
  });

  it('with invalid HTTP during a stream is closed, without an answer inside the stream', async () => {
    const raw = await openRaw(cluster.url);
    const body = JSON.stringify(chatRequest([{ write: 'data: 1\n\n' }, { hang: true }], { stream: true }));
    raw.socket.write(`${head(`content-length: ${body.length}\r\n\r\n`)}${body}`);
    await until(() => expect(raw.text()).toContain('data: 1'));
    raw.socket.write('nonsense\r\n\r\n');
    await raw.closed;
    expect(raw.text().match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
});

describe('a connection that sends one byte at a time', () => {
  let url: string;
  beforeAll(async () => {
    ({ url } = await cluster.addIngress({ BODY_TIMEOUT_MS: '1500' }));
  });

  /** Sends the rest of a request byte by byte until the connection is closed. */
  async function drip(begin: string): Promise<{ text: string; ms: number }> {
    const raw = await openRaw(url);
    raw.socket.write(begin);
    const dripping = setInterval(() => raw.socket.write('a'), 100);
    const before = performance.now();
    await raw.closed;
    clearInterval(dripping);
    return { text: raw.text(), ms: performance.now() - before };
  }

  it('is cut off in time, with 408 where nothing else answers', async () => {
    const form = 'content-type: application/x-www-form-urlencoded\r\ncontent-length: 1000\r\n\r\n';
    const forms = ['/oauth/token', '/api/anthropic/oauth/device_authorization', '/api/anthropic/v1/metrics'];
    const [answered, cut] = await Promise.all([
      Promise.all([head('content-length: 1000\r\n\r\n{'), head('x-slow: ')].map(drip)),
      Promise.all(forms.map((path) => drip(head(form, path)))),
    ]);
    for (const { text, ms } of answered) {
      expect(ms).toBeLessThan(10_000);
      const { status, headers, body } = readRawAnswer(text);
      expect(status).toBe(408);
      expect(headers).toMatchObject({ connection: 'close', 'x-request-id': expect.stringMatching(/^req_/) as string });
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'request_timeout' } });
    }
    for (const { ms } of cut) {
      expect(ms).toBeGreaterThan(1_000);
      expect(ms).toBeLessThan(10_000);
    }
  });
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
    '/api/openai',
    '/api/openai/v2/models',
    '/api/openai//models',
    '/api/nobody/models',
    '/api/openai/chat/completions/x',
    '/metrics',
  ])('%s is answered with 404', async (path) => {
    expect(await errorOf(await ask(path))).toMatchObject({ status: 404, code: 'not_found' });
  });

  it.each(['/api/openai/models/nobody', '/api/openai/models/__proto__', '/api/openai/models/%2e%2e%2fhealth'])(
    '%s is an unknown model',
    async (path) => {
      expect(await errorOf(await ask(path))).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    },
  );

  it('that cannot be decoded is answered with 400', async () => {
    const raw = await openRaw(cluster.url);
    raw.socket.write(head('connection: close\r\n\r\n', '/api/openai/models/%', 'GET'));
    await raw.closed;
    expect(readRawAnswer(raw.text()).status).toBe(400);
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

  it('does not answer HEAD where only POST is allowed', async () => {
    const answer = await ask('/api/openai/chat/completions', 'HEAD');
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
    expect(await answer.text()).toBe('');
  });

  it('answers HEAD like GET, without a body', async () => {
    for (const path of ['/health', '/api/openai/models']) {
      const answer = await ask(path, 'HEAD');
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe('');
    }
  });
});

describe('the log', () => {
  it('has the request id in every line about a request, including one that the client set', async () => {
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

  it('has no key, prompt or answer', async () => {
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
    await until(() => expect(cluster.ingress.lines.at(-1)?.['code']).toBe('missing_key'));
    const text = JSON.stringify(cluster.ingress.lines);
    for (const secret of [...Object.values(secrets), cluster.key, cluster.key.slice(-20)])
      expect(text).not.toContain(secret);
  });
});
