import { wsconnect, type WsConnectionOptions } from '@nats-io/nats-core';
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { Agent, WebSocket } from 'undici';
import { rootCertificates } from 'node:tls';
import type { Transport } from './connection-options.ts';

/**
 * Opens the connection once.
 * @param ca certificates in PEM that a broker behind a WebSocket may be signed by, besides the public ones
 */
export function openConnection(
  transport: Transport,
  options: NodeConnectionOptions,
  ca: string | undefined,
): Promise<NatsConnection> {
  if (transport === 'tcp') return connect(options);
  return wsconnect({ ...options, ...(ca !== undefined && { wsFactory: trusting(ca) }) });
}

/** Makes WebSockets that trust a private authority, too: the runtime's own know only the public ones. */
function trusting(ca: string): NonNullable<WsConnectionOptions['wsFactory']> {
  const dispatcher = new Agent({ connect: { ca: [...rootCertificates, ca] } });
  return (url) => {
    const socket = new WebSocket(url, { dispatcher });
    return Promise.resolve({ socket, encrypted: url.startsWith('wss:') });
  };
}
