import { request as sendRequest, STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '#shared/core/log.ts';
import { computeMemoryShare } from '#shared/core/memory-budget.ts';
import { pickHeaders } from '#shared/core/pick-headers.ts';
import { maxHeaders } from './serve-in-turn.ts';
import { type ClientConnection, WaitingConnections } from './waiting-connections.ts';

/** The path at which workers reach NATS through the port for clients. */
const relayPath = '/nats';

/** Bytes of memory of a connection whose two ends read nothing: what each of its two sockets has read, and what it has still to write. */
const connectionBytes = 256 * 1024;

/** The connections may together use the memory limit divided by this number. */
const memoryDivisor = 8;

/** Milliseconds within which NATS must accept a connection. */
const answerMs = 5_000;

/**
 * Milliseconds after which NATS has closed a connection without a valid credential. NATS does so after 2 s, or 3 s if it has TLS for other
 * clients.
 */
const admitMs = 5_000;

/** Milliseconds without progress after which a client that does not read the last bytes of NATS is disconnected. */
const lastBytesMs = 5_000;

/** The headers with which a client opens a WebSocket. NATS gets no others. */
const openingHeaders = [
  'host',
  'origin',
  'sec-websocket-extensions',
  'sec-websocket-key',
  'sec-websocket-protocol',
  'sec-websocket-version',
];

/**
 * Maximum of connections that NATS has not checked yet. NATS counts them among the 1,000 that it accepts, of which these and the admitted
 * ones leave a tenth to the cluster's own parts.
 */
const maxUnchecked = 100;

/** Returns the most connections that may be admitted: as many as fit into an eighth of the memory, and at most 800. */
export function computeMaxRelayed(memoryBytes: number): number {
  return Math.min(800, Math.floor(computeMemoryShare(memoryDivisor, memoryBytes) / connectionBytes));
}

/** Whether a request opens the WebSocket of a worker, and nothing else. All other requests are for the app, which refuses WebSockets. */
export function opensRelay({ method, url, headers, rawHeaders }: IncomingMessage): boolean {
  if (method !== 'GET' || url !== relayPath || headers.upgrade?.toLowerCase() !== 'websocket') return false;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return !hasBody && rawHeaders.length <= 2 * maxHeaders;
}

export interface NatsRelayParts {
  /** Address of the WebSocket listener of NATS. */
  url: string;
  /** Maximum of connections whose credential NATS has checked. Up to 100 more may wait for that. */
  max: number;
  log: Logger;
}

/**
 * Relays the WebSockets of workers to NATS, byte by byte, so that one port serves clients and workers. NATS itself admits nobody without a
 * credential. Connections that NATS has not checked yet are bounded apart, so that strangers take no worker's place.
 */
export class NatsRelay {
  readonly #address: URL;
  readonly #unchecked: WaitingConnections;
  readonly #admitted: WaitingConnections;
  readonly #open = new Set<Duplex>();
  readonly #log: Logger;
  #isReachable = true;

  constructor({ url, max, log }: NatsRelayParts) {
    this.#address = new URL(url);
    this.#unchecked = new WaitingConnections(Math.min(max, maxUnchecked), () => true);
    this.#admitted = new WaitingConnections(max, () => true);
    this.#log = log;
  }

  /** Connects the client of an upgrade request with NATS. Listener of `upgrade`. */
  readonly relay = (request: IncomingMessage, client: ClientConnection, head: Buffer): void => {
    this.#open.add(client);
    this.#unchecked.open(client);
    const admission = setTimeout(() => {
      this.#unchecked.release(client);
      this.#admitted.open(client);
    }, admitMs);
    client.on('error', () => client.destroy());
    client.once('close', () => {
      clearTimeout(admission);
      this.#open.delete(client);
    });
    this.#openUpstream(request, client, (upstream, answerHead) => {
      client.write(answerHead);
      upstream.write(head);
      join(client, upstream);
    });
  };

  /** Ends all connections. */
  close(): void {
    for (const client of this.#open) client.destroy();
  }

  /** @param onOpen is called with the connection to NATS and the beginning of its answer */
  #openUpstream(
    { headers, socket }: IncomingMessage,
    client: Duplex,
    onOpen: (upstream: Duplex, answerHead: string | Buffer) => void,
  ): void {
    const { hostname, port } = this.#address;
    const opening = sendRequest({
      hostname,
      port: port || 80,
      // Other paths of NATS are for other protocols than that of its clients.
      path: '/',
      headers: {
        ...pickHeaders(headers, openingHeaders),
        connection: 'Upgrade',
        upgrade: 'websocket',
        'x-forwarded-for': socket.remoteAddress,
      },
      agent: false,
    });
    const end = (): void => void opening.destroy();
    const timer = setTimeout(end, answerMs);
    client.once('close', end);
    opening.once('close', () => clearTimeout(timer));
    opening.once('upgrade', ({ rawHeaders }, upstream, head) => {
      client.off('close', end);
      this.#isReachable = true;
      onOpen(upstream, Buffer.concat([Buffer.from(formatAnswer(rawHeaders)), head]));
    });
    opening.once('response', ({ statusCode }) => {
      end();
      refuse(client, statusCode ?? 502, 'NATS refuses this WebSocket.');
    });
    opening.on('error', (cause) => {
      if (client.destroyed || client.writableEnded) return;
      if (this.#isReachable) this.#log.warn({ err: cause }, 'workers cannot reach NATS through this port');
      this.#isReachable = false;
      refuse(client, 503, 'NATS cannot be reached.');
    });
    opening.end();
  }
}

function refuse(client: Duplex, status: number, reason: string): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: text/plain\r\n`;
  client.write(`${head}content-length: ${reason.length}\r\n\r\n${reason}`);
  endSoon(client);
}

function formatAnswer(rawHeaders: readonly string[]): string {
  const lines = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`;
}

/** Passes the bytes of each connection to the other one, no faster than the other one takes them. */
function join(client: ClientConnection, upstream: Duplex): void {
  client.pipe(upstream);
  upstream.pipe(client);
  upstream.on('error', () => upstream.destroy());
  upstream.once('close', () => endSoon(client));
  client.once('close', () => upstream.destroy());
}

/** Closes a connection once the client has read what was written to it, or reads no more. */
function endSoon(client: Duplex & { setTimeout?: (ms: number, listener: () => void) => void }): void {
  client.setTimeout?.(lastBytesMs, () => client.destroy());
  client.end(() => client.destroy());
}
