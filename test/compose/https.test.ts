// @module-tag docker
import { once } from 'node:events';
import { chmod, chown, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { makeCertificates, type Certificates } from '../helpers/servers/make-certificates.ts';
import { useFolder } from '../helpers/files/temporary-folder.ts';
import { until } from '../helpers/until.ts';
import { ComposeProject } from '../helpers/compose/compose-project.ts';

const options = inject('composeOptions');
const { key } = inject('composeCluster') ?? { key: '' };
const folder = useFolder();
let certificates: Certificates;
let compose: ComposeProject;

const file = (name: string): string => join(folder, name);

/** Puts a certificate of this authority, and its key, where the load balancer reads them. */
async function serveWith({ certFile, keyFile }: Certificates): Promise<void> {
  await copyFile(certFile, file('tls/router.crt'));
  await copyFile(keyFile, file('tls/router.key'));
  for (const name of ['tls', 'tls/router.crt', 'tls/router.key']) await chown(file(name), 1000, 1000);
  await chmod(file('tls/router.key'), 0o400);
}

/** Recreates the load balancer alone. */
const upBalancer = (project: ComposeProject): Promise<string> =>
  project.run('up', '--detach', '--wait', '--no-build', '--no-deps', 'lb');

async function certificatesIn(name: string): Promise<Certificates> {
  await mkdir(file(name));
  return makeCertificates(file(name));
}

beforeAll(async () => {
  await chmod(folder, 0o755);
  await mkdir(file('tls'), { mode: 0o700 });
  certificates = await certificatesIn('first');
  await serveWith(certificates);
  compose = new ComposeProject({ ...options, env: { ...options.env, TLS_FOLDER: file('tls') } });
  await upBalancer(compose);
});

/** The other tests get theirs back. */
afterAll(() => upBalancer(new ComposeProject(options)));

/** One request to the load balancer, which must have a certificate of the authority. */
async function ask(
  path: string,
  { body, ...more }: RequestOptions & { body?: unknown } = {},
): Promise<IncomingMessage> {
  const at = { host: '127.0.0.1', port: options.port, path, ca: certificates.ca, agent: false };
  const request = httpsRequest({ ...at, ...more });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return answer;
}

const streamed = { model: 'demo', stream: true };

/** A streamed completion of so many tokens, twenty a second. */
const stream = (tokens: number): Promise<IncomingMessage> =>
  ask('/api/openai/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: { ...streamed, messages: [{ role: 'user', content: `Go on.\n[demo tokens=${tokens} rate=20]` }] },
  });

/** The protocol that is agreed on with a client of HTTP/2, and the SHA-256 of the certificate. */
async function handshake(): Promise<{ protocol: string | false | null; fingerprint: string }> {
  const to = { host: '127.0.0.1', port: options.port, rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] };
  const socket = connect(to);
  await once(socket, 'secureConnect');
  const found = { protocol: socket.alpnProtocol, fingerprint: socket.getPeerCertificate().fingerprint256 };
  socket.end();
  return found;
}

describe('the load balancer with a folder of certificates', () => {
  it('serves HTTPS, HTTP/2 too, and nothing without TLS', async () => {
    expect((await ask('/health')).statusCode).toBe(200);
    expect((await handshake()).protocol).toBe('h2');
    await expect(fetch(`http://127.0.0.1:${options.port}/health`)).rejects.toThrow('fetch failed');
  });

  it('streams, without a wait for the end', async () => {
    // The whole answer takes ten minutes.
    const answer = await stream(12_000);
    for (let piece = 0; piece < 20; piece += 1) await once(answer, 'data');
    expect(answer.complete).toBe(false);
    answer.destroy();
  });

  it('tells the router that TLS was used: its own address is https, whatever a client says', async () => {
    const discovery = await ask('/.well-known/oauth-authorization-server', {
      headers: { 'x-forwarded-proto': 'http', 'x-forwarded-host': 'elsewhere.example' },
    });
    expect(JSON.parse(await text(discovery))).toMatchObject({ issuer: `https://127.0.0.1:${options.port}` });
  });

  it('takes up a renewed certificate, and ends no answer for it', async () => {
    const before = await handshake();
    const answer = await stream(160);
    const renewed = await certificatesIn('second');
    await serveWith(renewed);
    await compose.run('kill', '--signal', 'SIGUSR2', 'lb');
    await until(async () => expect((await handshake()).fingerprint).not.toBe(before.fingerprint));
    expect(await text(answer)).toContain('data: [DONE]');
    certificates = renewed;
    expect((await ask('/health')).statusCode).toBe(200);
  });

  it('goes on with the certificate that it has when the new one is faulty', async () => {
    const before = await handshake();
    await writeFile(file('tls/router.crt'), 'no certificate');
    await compose.run('kill', '--signal', 'SIGUSR2', 'lb');
    await until(async () => expect(await compose.logs('lb')).toContain('/TLS_FOLDER/router.crt'));
    expect(await handshake()).toEqual(before);
    expect((await ask('/health')).statusCode).toBe(200);
  });

  it('does not start without a folder, without a certificate, or with a faulty one, and says so', async () => {
    // Each folder is another configuration, so that each container is a new one, and the test can be repeated.
    const withFolder = (name: string): ComposeProject =>
      new ComposeProject({ ...options, env: { ...options.env, TLS_FOLDER: file(name) } });
    await expect(upBalancer(withFolder('missing'))).rejects.toThrow(/bind source path does not exist: .*missing/);
    const empty = withFolder('empty');
    await mkdir(file('empty'), { recursive: true });
    await expect(upBalancer(empty)).rejects.toThrow();
    await until(async () => expect(await empty.logs('lb')).toContain('no SSL certificate specified'));
    const faulty = withFolder('faulty');
    await mkdir(file('faulty'), { recursive: true });
    await writeFile(file('faulty/router.crt'), 'no certificate');
    await expect(upBalancer(faulty)).rejects.toThrow();
    await until(async () => expect(await faulty.logs('lb')).toContain('/TLS_FOLDER/router.crt'));
  });
});
