import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createSecureServer, type Http2SecureServer, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, afterAll, describe, expect, it } from 'vitest';
import { UpstreamHttp } from '#shared/upstream/upstream-http.ts';
import { until } from '../../helpers/until.ts';
import { startProcess } from '../../helpers/processes/start-process.ts';

let folder: string;
let server: Http2SecureServer;
let url: string;
let sessions = 0;
let aborted = 0;
const versions: string[] = [];
const clients: { stop(): Promise<unknown> }[] = [];

describe('an upstream that speaks HTTP/2', { tags: ['openssl'] }, () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rtr-h2-'));
    const key = join(folder, 'key.pem');
    const cert = join(folder, 'cert.pem');
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', cert, ...name], { stdio: 'ignore' });
    server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert), allowHTTP1: true });
    server.on('session', () => {
      sessions += 1;
    });
    server.on('request', (request, response: Http2ServerResponse) => {
      versions.push(request.httpVersion);
      if (request.url === '/models') {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"data":[{"id":"m"}]}');
        return;
      }
      request.on('aborted', () => {
        aborted += 1;
      });
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}\n\n');
    });
    server.listen(0);
    await once(server, 'listening');
    url = `https://localhost:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.stop()));
  });
  afterAll(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  it('is reached over one connection, which an abort does not close', async () => {
    const script = startProcess('test/helpers/clients/ask-over-h2.ts', {
      UPSTREAM: url,
      NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem'),
    });
    clients.push(script);
    await script.line('aborted');
    await until(() => aborted === 3);
    expect(new Set(versions)).toEqual(new Set(['2.0']));
    // One for the queries, one for all the jobs.
    expect(sessions).toBe(2);
  });

  it('is refused if its certificate is not trusted', async () => {
    const http = new UpstreamHttp({ url, connections: 1, connectTimeoutMs: 1000, headers: () => ({}), allowH2: true });
    await expect(http.get('/models')).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    await http.close();
  });
});
