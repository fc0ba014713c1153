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
      // Reads no clock before the first delay: a test may have replaced it.
      if (delayMs === 0 && last === 0) return void other.write(piece);
      const now = performance.now();
      // A delay that ends must not let a piece overtake earlier ones.
      const at = Math.max(now + delayMs, last);
      last = at;
      if (at <= now) other.write(piece);
      else setTimeout(() => other.write(piece), at - now);
    });
    // `close` follows.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      answering.delete(socket);
      // Earlier pieces arrive, unless the connection is cut.
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
    // Reading begins when the pieces have a receiver.
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
    /** Holds back only the server's answers: it gets all requests. */
    pauseAnswers: () => {
      paused = 'answers';
      for (const socket of answering) socket.pause();
    },
    /** Breaks all connections, and every new one at once, until `resume`. */
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    /** Delays every piece by this time, in both directions. */
    delay: (ms: number) => (delayMs = ms),
    /** Ends the effects of the other functions. */
    resume: () => {
      paused = 'nothing';
      isCut = false;
      delayMs = 0;
      // The pieces of a client without a server would have no reader.
      for (const socket of sockets) if (socket.listenerCount('data') > 0) socket.resume();
    },
    close: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A proxy between clients and a server. It can hold back or delay everything that passes, as a frozen server or a slow network does. */
export type PausableProxy = Awaited<ReturnType<typeof startPausableProxy>>;

/**
 * Connects to the first port that accepts a connection. A stopped server may leave a client waiting: half a second, if there is another.
 */
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
