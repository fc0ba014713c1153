/**
 * The bytes that a worker gets with a grant: the request's body and, if a stream is to be continued, the part of the answer that the client
 * has.
 */
export interface Payload {
  readonly length: number;
  /** Bytes of the client's part of the answer, at the end of the payload; undefined for an answer that has not begun. */
  readonly relayedBytes: number | undefined;
  bytes(): Buffer;
}

const emptyBytes: Buffer = Buffer.alloc(0);

export function createPayload(body = emptyBytes): Payload {
  return { length: body.length, relayedBytes: undefined, bytes: () => body };
}
