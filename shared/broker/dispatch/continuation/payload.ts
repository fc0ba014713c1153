/**
 * The bytes that a worker gets with a grant: the request's body and, if a stream is to be continued, the part of the answer that the client
 * already has.
 */
export interface Payload {
  readonly length: number;
  /**
   * The length in bytes of the part of the answer that the client already has, at the end of the payload; undefined for an answer that has
   * not begun.
   */
  readonly relayedBytes: number | undefined;
  toBuffer(): Buffer;
}

const emptyBytes: Buffer = Buffer.alloc(0);

export function createPayload(body = emptyBytes): Payload {
  return { length: body.length, relayedBytes: undefined, toBuffer: () => body };
}
