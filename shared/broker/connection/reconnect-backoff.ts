import type { NodeConnectionOptions } from '@nats-io/transport-node';

/** Milliseconds between two tries to reach a lost server. */
const lostMs = 100;

/** Milliseconds between two tries at a server that refuses the credential, which only an operator can change. */
const refusedMs = 5_000;

type Servers = Parameters<NonNullable<NodeConnectionOptions['reconnectToServer']>>[0];

/**
 * Sets the pauses between the tries to connect to a server. They are much longer after a refusal than after a loss. The pauses use a
 * monotonic clock. The library measures its own pauses with the time of day; if that is set back by an hour, the library does not connect
 * for an hour.
 */
export class ReconnectBackoff {
  #isRefused = false;
  /** When each server was last tried, or will be tried next, in milliseconds of `performance.now()`. */
  #attempts = new Map<string, number>();

  note(isRefused: boolean): void {
    this.#isRefused = isRefused;
  }

  readonly options = {
    // Ends the library's own pause at once, whatever the time of day.
    reconnectDelayHandler: () => Number.NEGATIVE_INFINITY,
    reconnectToServer: (servers: Servers) => this.#next(servers),
  } satisfies Partial<NodeConnectionOptions>;

  #next(servers: Servers): { server: Servers[number]; delay: number } | null {
    const [server] = servers;
    if (!server) return null;
    const now = performance.now();
    const last = this.#attempts.get(server.listen);
    const delay = last === undefined ? 0 : Math.max(0, last + this.#pauseMs() - now);
    // Drops servers that have left the cluster.
    this.#attempts = new Map(
      servers.flatMap(({ listen }) => {
        const at = listen === server.listen ? now + delay : this.#attempts.get(listen);
        return at === undefined ? [] : [[listen, at]];
      }),
    );
    return { server, delay };
  }

  /** The pause is partly random, so that many workers do not connect at the same moment. */
  #pauseMs(): number {
    return (this.#isRefused ? refusedMs : lostMs) * (1 + Math.random());
  }
}
