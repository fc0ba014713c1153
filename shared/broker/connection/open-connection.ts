import { wsconnect, type WsConnectionOptions } from '@nats-io/nats-core';
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { X509Certificate } from 'node:crypto';
import { rootCertificates, TLSSocket } from 'node:tls';
import { Agent, buildConnector, WebSocket } from 'undici';
import type { Transport } from './connection-options.ts';
import { certificateBlocks } from './credential.ts';

/** The error for a broker behind a WebSocket whose certificate is not trusted. Only an operator can end this. */
export class UntrustedBrokerError extends Error {
  override name = 'UntrustedBrokerError';
}

/** What connections to a broker behind a WebSocket trust besides the public authorities. */
export interface Trust {
  /**
   * Certificates in PEM: of authorities that may sign the broker's certificate, or the broker's own. The broker's own is trusted without a
   * look at its host names. If it can sign no others and nobody else has signed it, nothing else is trusted.
   */
  ca: string | undefined;
  /** Called with the reason whenever a connection fails because the broker is not trusted. */
  onUntrusted: (error: UntrustedBrokerError) => void;
}

/** Opens the connection once, without retries. */
export function openConnection(
  transport: Transport,
  options: NodeConnectionOptions,
  { ca, onUntrusted }: Trust,
): Promise<NatsConnection> {
  if (transport === 'tcp') return connect(options);
  return wsconnect({ ...options, ...(ca !== undefined && { wsFactory: createTrustingFactory(ca, onUntrusted) }) });
}

/** Returns a factory of WebSockets that also trust these certificates. Node's own WebSocket trusts only the public authorities. */
function createTrustingFactory(
  ca: string,
  onUntrusted: Trust['onUntrusted'],
): NonNullable<WsConnectionOptions['wsFactory']> {
  const certificates = Array.from(ca.matchAll(certificateBlocks), ([pem]) => new X509Certificate(pem));
  const isPinned = certificates.every((certificate) => !certificate.ca && certificate.checkIssued(certificate));
  const connectSocket = buildConnector({
    ca: [...rootCertificates, ca],
    // Node refuses a certificate for its host name before anybody could look at its fingerprint. `findFault` refuses it instead, before a
    // byte is sent.
    rejectUnauthorized: false,
    // A resumed session shows no certificate.
    maxCachedSessions: 0,
  });

  function findFault(socket: TLSSocket): string | undefined {
    const shown = socket.getPeerX509Certificate();
    if (certificates.some(({ fingerprint256 }) => fingerprint256 === shown?.fingerprint256)) return undefined;
    if (isPinned)
      return 'shows another certificate than the one in the credential: it has a new one, for which this machine must join again, or somebody else answers in its place';
    return socket.authorized
      ? undefined
      : `shows a certificate that is not trusted: ${String(socket.authorizationError)}`;
  }

  const dispatcher = new Agent({
    connect: (options, callback) => {
      connectSocket(options, (error, socket) => {
        if (error) {
          callback(error, null);
          return;
        }
        const fault = socket instanceof TLSSocket ? findFault(socket) : undefined;
        if (fault === undefined) {
          callback(null, socket);
          return;
        }
        const untrusted = new UntrustedBrokerError(`${options.host} ${fault}`);
        onUntrusted(untrusted);
        socket.destroy();
        callback(untrusted, null);
      });
    },
  });
  return (url) => {
    const socket = new WebSocket(url, { dispatcher });
    return Promise.resolve({ socket, encrypted: url.startsWith('wss:') });
  };
}
