import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands between clients and a server, and can keep everything that passes for a while, as a frozen server does. */
export interface PausableProxy {
  port: number;
  pause(): void;
  /** Keeps only what the server answers: it gets all that is asked of it. */
  pauseAnswers(): void;
  /** Closes all connections, and every new one at once, until `resume`. */
  cut(): void;
  resume(): void;
  close(): void;
}

/** Starts a proxy for a server of this machine. */
export async function startPausableProxy(serverPort: number): Promise<PausableProxy> {
  const sockets = new Set<Socket>();
  const answering = new Set<Socket>();
  let paused: 'nothing' | 'answers' | 'all' = 'nothing';
  let isCut = false;
  const isHeld = (socket: Socket): boolean => paused === 'all' || (paused === 'answers' && answering.has(socket));
  const follow = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on('data', (piece) => other.write(piece));
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      answering.delete(socket);
      other.destroy();
    });
    if (isHeld(socket)) socket.pause();
  };
  const proxy = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const server = connect(serverPort, '127.0.0.1');
    answering.add(server);
    follow(client, server);
    follow(server, client);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    pause: () => {
      paused = 'all';
      for (const socket of sockets) socket.pause();
    },
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    pauseAnswers: () => {
      paused = 'answers';
      for (const socket of answering) socket.pause();
    },
    resume: () => {
      paused = 'nothing';
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
    close: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
