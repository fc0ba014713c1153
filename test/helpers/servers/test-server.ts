import type { ServerKind } from '#services/rtr/up/servers/find-server.ts';

/** A real NATS or Redis server for tests. */
export interface TestServer {
  /** `nats://127.0.0.1:<port>` or `redis://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  /** Ends it in good order and removes its data. Safe to call again, and after `kill`. */
  stop(): Promise<void>;
  /** Ends it at once, as `kill -9` does; returns when it is gone. Its data on disk stays for `restart`. */
  kill(): Promise<void>;
  /** Stops it with SIGSTOP: its connections stay, and nothing is answered until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Starts it again on the same port (ending it first, in good order, when it runs), with the same data or without. */
  restart(options?: { keepData?: boolean }): Promise<void>;
}

/** Where test servers come from: containers, or programs of this machine. */
export type ServerSource = 'containers' | 'local';

export type { ServerKind };
