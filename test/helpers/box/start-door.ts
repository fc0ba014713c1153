import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { serveHttp } from '../servers/serve-http.ts';
import { stopAfterTest } from '../stop-after-test.ts';

/** A certificate that has signed itself. */
export interface SelfSigned {
  cert: string;
  key: string;
  /** SHA-256 of the certificate in base64url. */
  fingerprint: string;
}

export interface JoinRequest {
  path: string | undefined;
  body: Record<string, unknown>;
}

/** Creates a certificate of no authority, and of no name that anyone asks for. */
export function makeSelfSigned(folder: string): SelfSigned {
  const name = randomBytes(4).toString('hex');
  const [certFile, keyFile] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...newKey, '-subj', '/CN=router', '-keyout', keyFile, '-out', certFile], {
    stdio: 'pipe',
  });
  const cert = readFileSync(certFile, 'utf8');
  const fingerprint = createHash('sha256').update(new X509Certificate(cert).raw).digest('base64url');
  return { cert, key: readFileSync(keyFile, 'utf8'), fingerprint };
}

/** Starts what stands in for a router's `/api/join` until the running test ends. Without a certificate, it speaks plain HTTP. */
export async function startDoor(
  answer: (request: JoinRequest, response: ServerResponse) => void,
  tls?: SelfSigned,
): Promise<{ address: string; requests: JoinRequest[] }> {
  const requests: JoinRequest[] = [];
  const server = await serveHttp(
    async (incoming, response) => {
      const request = { path: incoming.url, body: JSON.parse(await text(incoming)) as JoinRequest['body'] };
      requests.push(request);
      answer(request, response);
    },
    { ...(tls && { tls }) },
  );
  stopAfterTest(server);
  return { address: server.url, requests };
}

export function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A new secret of an invitation. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url');
}
