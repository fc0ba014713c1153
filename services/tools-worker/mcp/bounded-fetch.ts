import type { FetchLike } from '@modelcontextprotocol/client';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Creates a `fetch` function that limits the size of an answer's body, because the MCP client reads the whole body into memory. In an event
 * stream, the function limits each event instead, because the stream may last for days.
 */
export function createBoundedFetch(maxBytes: number): FetchLike {
  return async (url, init) => {
    const answer = await fetch(url, init);
    // The client follows redirects itself and does not read their bodies.
    if (!answer.body || (answer.status >= 300 && answer.status < 400)) return answer;
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const body = answer.body.pipeThrough(createBoundedStream(maxBytes, isStream));
    return new Response(body, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
  };
}

function createBoundedStream(maxBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  /** The last two bytes before the chunk. The line breaks that end an event may arrive in different chunks. */
  let tail = Buffer.alloc(0);
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (isStream) {
        const text = Buffer.concat([tail, chunk]);
        const end = findLastEventEnd(text);
        if (end >= 0) bytes = text.length - end;
        tail = text.subarray(-2);
      }
      if (bytes > maxBytes) throw new Error(`the server sent more than ${maxBytes} bytes at once`);
      controller.enqueue(chunk);
    },
  });
}

/** Returns the index after the last event that ends in a text; -1 if no event ends there. An empty line ends an event. */
function findLastEventEnd(text: Buffer): number {
  for (let at = text.length - 1; at > 0; at -= 1) {
    if (!isLineBreak(text[at])) continue;
    const start = text[at] === lineFeed && text[at - 1] === carriageReturn ? at - 1 : at;
    if (isLineBreak(text[start - 1])) return at + 1;
  }
  return -1;
}

function isLineBreak(byte: number | undefined): boolean {
  return byte === lineFeed || byte === carriageReturn;
}
