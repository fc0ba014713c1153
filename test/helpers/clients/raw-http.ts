import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection on which a test speaks HTTP byte by byte. */
export interface RawConnection {
  socket: Socket;
  /** Returns everything that came back so far. */
  text: () => string;
  /** Resolves when the other side has closed. */
  closed: Promise<void>;
}

/** Opens a connection to an `http://` address. */
export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (piece: string) => {
    text += piece;
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  // A reset ends the connection just as a close does; only the bytes before it count.
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  return { socket, text: () => text, closed };
}

/** Parses an answer: status, headers with lower-case names, body. */
export function readRawAnswer(text: string): { status: number; headers: Record<string, string>; body: string } {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  return { status: Number(first.split(' ')[1]), headers, body: rest.join('\r\n\r\n') };
}

/** Returns the text of a request with a key, up to its body. */
export function rawHead(
  key: string,
  headers: readonly string[],
  path = '/api/openai/chat/completions',
  method = 'POST',
): string {
  return [`${method} ${path} HTTP/1.1`, 'host: x', `authorization: Bearer ${key}`, ...headers, '', ''].join('\r\n');
}
