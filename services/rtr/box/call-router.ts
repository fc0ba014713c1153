import { createHash, type X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { BoxError, newLineHint } from './box-error.ts';

/** The address of a router, and the certificate that it must have. */
export interface RouterDoor {
  address: string;
  /** SHA-256 of the router's certificate (DER) in base64url; undefined for a certificate that a public authority has signed. */
  fingerprint?: string | undefined;
}

export interface RouterAnswer {
  status: number;
  /** The header `content-type`. */
  type: string;
  text: string;
  /** The router's certificate in PEM, if the door has a fingerprint. */
  certificate: string | undefined;
}

const callTimeoutMs = 10_000;
/** Maximum bytes of an answer. */
const maxAnswerBytes = 256 * 1024;

/**
 * Sends a JSON object to a router. If the door has a fingerprint, nothing is sent before the router has proven that it has the certificate.
 * @throws BoxError `unreachable` or `certificate_changed`
 */
export async function callRouter(
  door: RouterDoor,
  path: string,
  body: object,
  timeoutMs = callTimeoutMs,
): Promise<RouterAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const { socket, certificate } = await connectRouter(door, signal);
  try {
    const outgoing = request(new URL(path, door.address), {
      method: 'POST',
      // The socket is encrypted already, if the address is https.
      protocol: 'http:',
      createConnection: () => socket,
      headers: { 'content-type': 'application/json', accept: 'application/json', connection: 'close' },
      signal,
    });
    outgoing.end(JSON.stringify(body));
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const text = await readText(answer);
    const { statusCode: status = 0, headers } = answer;
    return { status, type: headers['content-type'] ?? '', text, certificate: certificate?.toString() };
  } catch (error) {
    throw describeFailure(door, error);
  } finally {
    socket.destroy();
  }
}

/**
 * Checks that a router answers with the certificate of its door.
 * @throws BoxError `unreachable` or `certificate_changed`
 */
export async function checkCertificate(door: RouterDoor): Promise<void> {
  const { socket } = await connectRouter(door, AbortSignal.timeout(callTimeoutMs));
  socket.destroy();
}

/**
 * Opens a connection, encrypted if the address is https, and checks the certificate.
 * @returns the certificate only if the door has a fingerprint
 */
async function connectRouter(
  door: RouterDoor,
  signal: AbortSignal,
): Promise<{ socket: Socket; certificate: X509Certificate | undefined }> {
  const { protocol, hostname, port } = new URL(door.address);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isEncrypted = protocol === 'https:';
  const address = { host, port: Number(port || (isEncrypted ? 443 : 80)) };
  const socket = isEncrypted
    ? connectTls({
        ...address,
        ...(isIP(host) === 0 && { servername: host }),
        // The fingerprint replaces the check by authorities, of names and of times.
        rejectUnauthorized: door.fingerprint === undefined,
      })
    : connectTcp(address);
  // Whoever waits for the socket gets the error, too.
  socket.on('error', () => {});
  try {
    await once(socket, isEncrypted ? 'secureConnect' : 'connect', { signal });
  } catch (error) {
    socket.destroy();
    throw describeFailure(door, error);
  }
  if (door.fingerprint === undefined) return { socket, certificate: undefined };
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  if (certificate && computeFingerprint(certificate) === door.fingerprint) return { socket, certificate };
  socket.destroy();
  throw new BoxError(
    'certificate_changed',
    `The certificate of ${door.address} is not the one of the invitation, so nothing was sent: another machine answers there, or the router has a new certificate; then ${newLineHint}.`,
  );
}

function computeFingerprint({ raw }: X509Certificate): string {
  return createHash('sha256').update(raw).digest('base64url');
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function describeFailure({ address }: RouterDoor, error: unknown): BoxError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isTimeout = error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
  const reason = isTimeout ? 'no answer in time' : error instanceof Error ? error.message || code : String(error);
  if (untrustedCodes.test(code))
    return new BoxError(
      'unreachable',
      `The certificate of ${address} is not trusted (${reason}), and the invitation names no fingerprint: ${newLineHint}. For a certificate authority of your own, set NODE_EXTRA_CA_CERTS.`,
      { cause: error },
    );
  return new BoxError(
    'unreachable',
    `The router at ${address} cannot be reached (${reason}): check that it runs, that it was started with --expose or has a public address, and that no firewall is between.`,
    { cause: error },
  );
}

/** Codes of Node's errors for certificates that no known authority has signed for this name and time. */
const untrustedCodes = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/;
