import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { Logger } from '#shared/core/log.ts';
import type { TlsFolder } from '#shared/core/tls/tls-folder.ts';
import type { WaitingConnections } from './waiting-connections.ts';

/** The first byte of every TLS connection: the type of a record with a handshake (RFC 8446, section 5.1). No HTTP request begins with it. */
const handshakeType = 0x16;

export interface TlsParts {
  tls: TlsFolder;
  /** Milliseconds within which the first byte must arrive, and then as many for the handshake. */
  startTimeoutMs: number;
  waitingConnections: WaitingConnections;
  log: Logger;
}

/**
 * Lets a server serve HTTPS, and plain HTTP too, on the same port. The first byte of a connection decides. A renewed certificate is used for
 * connections from a minute later on. Call it before other listeners for connections are added.
 */
export function serveTls(server: Server, { tls, startTimeoutMs, waitingConnections, log }: TlsParts): void {
  // Node's own listener, which parses HTTP.
  const parsers = server.listeners('connection');
  server.removeAllListeners('connection');
  const serveHttp = (connection: Socket): void => {
    for (const parse of parsers) Reflect.apply(parse, server, [connection]);
  };

  /** The connections with an incomplete handshake, by their address, because Node does not tell which one it has secured. */
  const handshakes = new Map<string, Socket>();
  const tlsServer = createTlsServer(
    { ...tls.certificate, ALPNProtocols: ['http/1.1'], handshakeTimeout: startTimeoutMs },
    (secured) => {
      const connection = handshakes.get(toAddress(secured));
      if (connection) waitingConnections.release(connection);
      waitingConnections.open(secured);
      serveHttp(secured);
    },
  );
  tlsServer.on('tlsClientError', (error: Error, connection: TLSSocket) => {
    log.debug({ err: error }, 'a TLS handshake failed');
    connection.destroy();
  });

  function renewCertificate(): void {
    try {
      const renewed = tls.readRenewed(performance.now());
      if (!renewed) return;
      tlsServer.setSecureContext(renewed);
      log.info('the certificate was renewed');
    } catch (error) {
      log.warn({ reason: String(error) }, 'the certificate in use stays, because the new one cannot be used');
    }
  }

  function startTls(connection: Socket): void {
    renewCertificate();
    const address = toAddress(connection);
    handshakes.set(address, connection);
    connection.once('close', () => handshakes.delete(address));
    tlsServer.emit('connection', connection);
  }

  server.on('connection', (connection: Socket) => {
    const timer = setTimeout(() => connection.destroy(), startTimeoutMs);
    connection.on('error', () => connection.destroy());
    connection.once('close', () => clearTimeout(timer));
    connection.once('readable', () => {
      clearTimeout(timer);
      const first = connection.read(1) as Buffer | null;
      // The client has closed the connection.
      if (first === null) return void connection.destroy();
      connection.unshift(first);
      if (first[0] === handshakeType) startTls(connection);
      else serveHttp(connection);
    });
  });
}

function toAddress({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
