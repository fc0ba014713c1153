import type { NodeConnectionOptions } from '@nats-io/transport-node';

/** Milliseconds between attempts to reach a server that was lost. */
const lostMs = 100;

/** Milliseconds between attempts at one that refuses the credential, which only an operator can change. */
const refusedMs = 5_000;

type Servers = Parameters<NonNullable<NodeConnectionOptions['reconnectToServer']>>[0];

/**
 * The pauses between attempts to connect to a server: after a refusal much longer than after a loss. They are measured with a
 * clock that nobody can set. The library measures its own with the time of day: when that is set back by an hour, it does not
 * connect for an hour.
 */
export class ReconnectPace {
  #isRefused = false;
  /** When each server is or was tried last, in ms of `performance.now()`. */
  #attempts = new Map<string, number>();

  /** Notes how the last attempt ended. */
  note(isRefused: boolean): void {
    this.#isRefused = isRefused;
  }

  /** The library's options for this pace. */
  readonly options = {
    // So that the library's own pause is over, whatever the time of day.
    reconnectDelayHandler: () => Number.NEGATIVE_INFINITY,
    reconnectToServer: (servers: Servers) => this.#next(servers),
  } satisfies Partial<NodeConnectionOptions>;

  /** The server whose turn it is, and the milliseconds until its attempt. */
  #next(servers: Servers): { server: Servers[number]; delay: number } | null {
    const [server] = servers;
    if (!server) return null;
    const now = performance.now();
    const last = this.#attempts.get(server.listen);
    const delay = last === undefined ? 0 : Math.max(0, last + this.#pauseMs() - now);
    // Servers that left the cluster are forgotten.
    this.#attempts = new Map(
      servers.flatMap(({ listen }) => {
        const at = listen === server.listen ? now + delay : this.#attempts.get(listen);
        return at === undefined ? [] : [[listen, at]];
      }),
    );
    return { server, delay };
  }

  /** Partly random, so that many workers do not come at once. */
  #pauseMs(): number {
    return (this.#isRefused ? refusedMs : lostMs) * (1 + Math.random());
  }
}
