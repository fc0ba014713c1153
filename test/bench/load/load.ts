/** Where load goes: the cluster, or the fake upstream itself. */
export interface LoadTarget {
  host: string;
  port: number;
  path: string;
  /** Sent as a bearer token. */
  key: string;
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
    }
  /** Opens streams and holds them. */
  | { kind: 'open'; target: LoadTarget; connections: number; body: string }
  /** Closes what `open` opened. */
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
}
