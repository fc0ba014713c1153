/**
 * The bytes that a worker gets with a grant: the request's body, followed by the client's part of the stream if the stream is to
 * continue.
 */
export interface Payload {
  readonly length: number;
  /** Undefined for an answer that has not begun. */
  readonly relayedBytes: number | undefined;
  bytes(): Buffer;
}

const emptyBytes: Buffer = Buffer.alloc(0);

export function createPayload(body = emptyBytes): Payload {
  return { length: body.length, relayedBytes: undefined, bytes: () => body };
}
