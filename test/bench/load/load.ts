/** Where load goes: the cluster, or the fake upstream itself. */
export interface LoadTarget {
  host: string;
  port: number;
  path: string;
  /** Sent as a bearer token. */
  key: string;
  /** Further lines of the request's head. */
  headers?: readonly string[];
}

/** One order to the load generator. */
export type LoadOrder =
  | {
      kind: 'run';
      target: LoadTarget;
      /** Requests at once, each on a connection of its own that is kept. */
      connections: number;
      /** Bodies, taken in turn. */
      bodies: readonly string[];
      /** Ends after this many seconds or, if that comes first, this many requests; running ones are finished. */
      seconds: number;
      requests: number;
      /** Seconds over which the connections begin, so that they do not go in step. */
      rampSeconds: number;
      /** Keys, taken in turn instead of the target's. */
      keys?: readonly string[];
      /** Stamped texts that each answer has; any other number is a failure. Not counted if left out. */
      texts?: number;
      /** Milliseconds after which an answer that is not complete counts as failed. No bound if left out. */
      timeoutMs?: number;
    }
  /** Opens streams and holds them, for at most `seconds`, from the addresses 127.0.0.1 to 127.0.0.`sources`. */
  | { kind: 'open'; target: LoadTarget; connections: number; body: string; seconds?: number; sources?: number }
  /** Closes what `open` opened; `requests` of the result are those that were still open. */
  | { kind: 'close' };

/** What came of an order. */
export interface LoadResult {
  requests: number;
  seconds: number;
  /** Requests that did not get their whole answer, by what happened instead. */
  failures: Record<string, number>;
  /** Milliseconds from a request's last byte to the first byte of its answer's body; one for each good answer. */
  firstMs: Float64Array;
  /** Milliseconds from a request's last byte to its answer's last one, in the same order. */
  totalMs: Float64Array;
  delays: Delays;
  /** Stamped texts of all good answers. */
  texts: number;
}

/** Milliseconds on the way, of streams whose texts are stamped: see `stamp.ts`. */
export interface Delays {
  /** From the client's writing the request to its arrival at the upstream. */
  there: Float64Array;
  /** From the upstream's writing the first byte to the client's reading it. */
  byte: Float64Array;
  /** From the upstream's writing the first text to the client's reading it. */
  text: Float64Array;
  /** The same of every further text. */
  token: Float64Array;
}
