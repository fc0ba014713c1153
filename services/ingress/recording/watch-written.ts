import type { ServerResponse } from 'node:http';

type WriteMethod = ServerResponse['write'];
type EndMethod = ServerResponse['end'];

/**
 * Calls `onBytes` with all bytes that are written to a response from now on. Replaces methods of this response object only, so that it
 * costs other responses nothing.
 * @param onBytes called before the bytes are written; their memory may be reused afterwards
 * @param onEnd called when the response is ended, not when its connection closes
 */
export function watchWritten(response: ServerResponse, onBytes: (bytes: Uint8Array) => void, onEnd: () => void): void {
  const write = response.write.bind(response) as (...args: unknown[]) => boolean;
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  const reportBytes = ([chunk, encoding]: readonly unknown[]): void => {
    if (chunk instanceof Uint8Array) onBytes(chunk);
    else if (typeof chunk === 'string')
      onBytes(Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'));
  };
  response.write = ((...args: unknown[]) => {
    reportBytes(args);
    return write(...args);
  }) as WriteMethod;
  response.end = ((...args: unknown[]) => {
    reportBytes(args);
    onEnd();
    return end(...args);
  }) as EndMethod;
}
