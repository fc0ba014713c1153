/** What a worker is sent with a grant: a request's body, and behind it what the client has of a stream that is to continue. */
export interface Payload {
  readonly length: number;
  /** Undefined for an answer that has not begun. */
  readonly relayedBytes: number | undefined;
  bytes(): Buffer;
}

const nothing: Buffer = Buffer.alloc(0);

/** The payload of a job whose answer has not begun. */
export function payloadOf(body = nothing): Payload {
  return { length: body.length, relayedBytes: undefined, bytes: () => body };
}
