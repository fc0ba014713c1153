import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The connection of one part to NATS, which can be cut and delayed. */
export interface Link {
  url: string;
  /** Breaks what is open, and refuses what comes until `restore`. */
  cut(): void;
  /** Lets every piece pass this much later, in both directions. */
  delay(ms: number): void;
  restore(): void;
  close(): void;
}

/** Starts a link to the first of these ports that answers. */
export async function startLink(ports: readonly number[]): Promise<Link> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let delayMs = 0;
  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    if (isCut) return void client.destroy();
    sockets.add(client);
    client.once('close', () => sockets.delete(client));
    // Reading begins when somebody takes what is read.
    void connectFirst(ports).then((upstream) => {
      if (!upstream || client.destroyed || isCut) {
        upstream?.destroy();
        client.destroy();
        return;
      }
      sockets.add(upstream);
      follow(client, upstream);
      follow(upstream, client);
    });
  });
  const follow = (socket: Socket, other: Socket): void => {
    let last = 0;
    socket.setNoDelay(true);
    socket.on('data', (piece) => {
      const now = performance.now();
      // A delay that ends must not let a piece overtake those before it.
      const at = Math.max(now + delayMs, last);
      last = at;
      if (at <= now) other.write(piece);
      else setTimeout(() => other.write(piece), at - now);
    });
    // Its close follows.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      // What was sent before arrives, unless the link is cut.
      const waitMs = isCut ? 0 : Math.max(delayMs, last - performance.now());
      if (waitMs <= 0) other.destroy();
      else setTimeout(() => other.destroySoon(), waitMs);
    });
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    delay: (ms) => (delayMs = ms),
    restore: () => {
      isCut = false;
      delayMs = 0;
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A connection to the first port that accepts one within half a second. */
async function connectFirst(ports: readonly number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(500) });
      return socket;
    } catch {
      socket.destroy();
    }
  }
  return undefined;
}
