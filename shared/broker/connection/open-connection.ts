import { wsconnect, type WsConnectionOptions } from '@nats-io/nats-core';
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { Agent, WebSocket } from 'undici';
import { rootCertificates } from 'node:tls';
import type { Transport } from './connection-options.ts';

/**
 * Opens the connection once, without retries.
 * @param ca CA certificates in PEM that may sign the certificate of a broker behind a WebSocket, besides the public ones
 */
export function openConnection(
  transport: Transport,
  options: NodeConnectionOptions,
  ca: string | undefined,
): Promise<NatsConnection> {
  if (transport === 'tcp') return connect(options);
  return wsconnect({ ...options, ...(ca !== undefined && { wsFactory: createTrustingFactory(ca) }) });
}

/** Returns a factory of WebSockets that also trust these CA certificates. Node's own WebSocket trusts only the public ones. */
function createTrustingFactory(ca: string): NonNullable<WsConnectionOptions['wsFactory']> {
  const dispatcher = new Agent({ connect: { ca: [...rootCertificates, ca] } });
  return (url) => {
    const socket = new WebSocket(url, { dispatcher });
    return Promise.resolve({ socket, encrypted: url.startsWith('wss:') });
  };
}
