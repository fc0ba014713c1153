import type { NodeConnectionOptions } from '@nats-io/transport-node';

/** Minimum milliseconds between two tries to reach a lost server. */
const minLossPauseMs = 100;

/** Minimum milliseconds between two tries at a server that refuses the credential. Only an operator can end the refusal. */
const minRefusalPauseMs = 5_000;

type Servers = Parameters<NonNullable<NodeConnectionOptions['reconnectToServer']>>[0];

/**
 * Sets the pauses between the tries to connect to a server. They are much longer after the server has refused the credential than after a
 * lost connection. The library measures its own pauses with the time of day: if the clock is set back by an hour, the library does not
 * connect for an hour. These pauses use a monotonic clock instead.
 */
export class ReconnectBackoff {
  #isRefused = false;
  /** When each server was last tried, or will be tried next, in milliseconds of `performance.now()`. */
  #tryTimes = new Map<string, number>();

  /** Sets whether the server last refused the credential, which makes the pauses longer. */
  setRefused(isRefused: boolean): void {
    this.#isRefused = isRefused;
  }

  readonly options = {
    // Ends the library's own pause at once, whatever the time of day.
    reconnectDelayHandler: () => Number.NEGATIVE_INFINITY,
    reconnectToServer: (servers: Servers) => this.#chooseServer(servers),
  } satisfies Partial<NodeConnectionOptions>;

  /** Returns the server to try next, and the milliseconds to wait before the try; null if there is no server. */
  #chooseServer(servers: Servers): { server: Servers[number]; delay: number } | null {
    const [server] = servers;
    if (!server) return null;
    const now = performance.now();
    const lastTryAt = this.#tryTimes.get(server.listen);
    const delay = lastTryAt === undefined ? 0 : Math.max(0, lastTryAt + this.#computePauseMs() - now);
    // The times of servers that have left the cluster are dropped.
    this.#tryTimes = new Map(
      servers.flatMap(({ listen }) => {
        const triedAt = listen === server.listen ? now + delay : this.#tryTimes.get(listen);
        return triedAt === undefined ? [] : [[listen, triedAt]];
      }),
    );
    return { server, delay };
  }

  /** Returns the next pause. It is partly random, so that many workers do not connect at the same moment. */
  #computePauseMs(): number {
    return (this.#isRefused ? minRefusalPauseMs : minLossPauseMs) * (1 + Math.random());
  }
}
