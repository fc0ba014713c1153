import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Starts a proxy for a server of this machine, or for the first of several that answers. */
export async function startPausableProxy(...ports: readonly number[]) {
  const sockets = new Set<Socket>();
  const answering = new Set<Socket>();
  let paused: 'nothing' | 'answers' | 'all' = 'nothing';
  let isCut = false;
  let delayMs = 0;
  const isHeld = (socket: Socket): boolean => paused === 'all' || (paused === 'answers' && answering.has(socket));
  const follow = (socket: Socket, other: Socket): void => {
    let last = 0;
    socket.setNoDelay(true);
    socket.on('data', (piece) => {
      // Before the first delay no clock is asked: a test may have another one.
      if (delayMs === 0 && last === 0) return void other.write(piece);
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
      answering.delete(socket);
      // What was sent before arrives, unless the connection is cut.
      const waitMs = isCut ? 0 : Math.max(delayMs, last - performance.now());
      if (waitMs <= 0) other.destroy();
      else setTimeout(() => other.destroySoon(), waitMs);
    });
    if (isHeld(socket)) socket.pause();
  };
  const proxy = createServer((client) => {
    client.on('error', () => client.destroy());
    if (isCut) return void client.destroy();
    sockets.add(client);
    client.once('close', () => sockets.delete(client));
    // Reading begins when somebody takes what is read.
    void connectFirst(ports).then((server) => {
      if (!server || client.destroyed || isCut) {
        server?.destroy();
        client.destroy();
        return;
      }
      sockets.add(server);
      answering.add(server);
      follow(client, server);
      follow(server, client);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    pause: () => {
      paused = 'all';
      for (const socket of sockets) socket.pause();
    },
    /** Keeps only what the server answers: it gets all that is asked of it. */
    pauseAnswers: () => {
      paused = 'answers';
      for (const socket of answering) socket.pause();
    },
    /** Breaks all connections, and every new one at once, until `resume`. */
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    /** Lets every piece pass this much later, in both directions. */
    delay: (ms: number) => (delayMs = ms),
    /** Ends what the others began. */
    resume: () => {
      paused = 'nothing';
      isCut = false;
      delayMs = 0;
      // A client that has no server yet would be read by nobody.
      for (const socket of sockets) if (socket.listenerCount('data') > 0) socket.resume();
    },
    close: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Stands between clients and a server, and can keep or delay everything that passes, as a frozen server or a slow network does. */
export type PausableProxy = Awaited<ReturnType<typeof startPausableProxy>>;

/** A connection to the first port that accepts one. A server that is stopped may leave a client waiting: half a second, if there is another. */
async function connectFirst(ports: readonly number[]): Promise<Socket | undefined> {
  for (const [at, port] of ports.entries()) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect', at < ports.length - 1 ? { signal: AbortSignal.timeout(500) } : {});
      return socket;
    } catch {
      socket.destroy();
    }
  }
  return undefined;
}
