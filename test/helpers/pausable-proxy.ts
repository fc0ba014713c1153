import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands between clients and a server, and can keep everything that passes for a while, as a frozen server does. */
export interface PausableProxy {
  port: number;
  pause(): void;
  resume(): void;
  close(): void;
}

/** Starts a proxy for a server of this machine. */
export async function startPausableProxy(serverPort: number): Promise<PausableProxy> {
  const sockets = new Set<Socket>();
  let isPaused = false;
  const follow = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on('data', (piece) => other.write(piece));
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
    if (isPaused) socket.pause();
  };
  const proxy = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    follow(client, server);
    follow(server, client);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    pause: () => {
      isPaused = true;
      for (const socket of sockets) socket.pause();
    },
    resume: () => {
      isPaused = false;
      for (const socket of sockets) socket.resume();
    },
    close: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
