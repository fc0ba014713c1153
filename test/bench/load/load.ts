export interface LoadTarget {
  host: string;
  port: number;
  path: string;
  key: string;
  headers?: readonly string[];
}

export type LoadOrder =
  | {
      kind: 'run';
      target: LoadTarget;
      /** Requests at once, each on a kept connection of its own. */
      connections: number;
      /** Bodies, used in turn. */
      bodies: readonly string[];
      /** Ends after this many seconds or, if that comes first, this many requests; running ones are finished. */
      seconds: number;
      requests: number;
      /** Seconds over which the connections begin, so that they do not run in step. */
      rampSeconds: number;
      /** Keys, used in turn instead of the target's. */
      keys?: readonly string[];
      /** Stamped texts of each answer; any other number is a failure. Not counted if left out. */
      texts?: number;
      /** Milliseconds after which an answer that is not complete counts as failed. No bound if left out. */
      timeoutMs?: number;
    }
  /** Opens streams and holds them, for at most `seconds`, from the addresses 127.0.0.1 to 127.0.0.`sources`. */
  | { kind: 'open'; target: LoadTarget; connections: number; body: string; seconds?: number; sources?: number }
  /** Closes the streams that `open` opened; `requests` of the result counts those that were still open. */
  | { kind: 'close' };

export interface LoadResult {
  requests: number;
  seconds: number;
  /** Requests that did not get their whole answer, by their outcome. */
  failures: Record<string, number>;
  /** Milliseconds from a request's last byte to the first byte of its answer's body; one for each good answer. */
  firstMs: Float64Array;
  /** Milliseconds from a request's last byte to its answer's last one, in the same order. */
  totalMs: Float64Array;
  delays: Delays;
  texts: number;
}

/** Milliseconds on the way, for streams with stamped texts: see `stamp.ts`. */
export interface Delays {
  /** From the client's write of the request to its arrival at the upstream. */
  there: Float64Array;
  /** From the upstream's write of the first byte to the client's read of it. */
  byte: Float64Array;
  /** From the upstream's write of the first text to the client's read of it. */
  text: Float64Array;
  /** The same for every further text. */
  token: Float64Array;
}
