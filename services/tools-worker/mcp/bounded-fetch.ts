import type { FetchLike } from '@modelcontextprotocol/client';

const lineBreak = 0x0a;

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
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? findLastEventEnd(chunk) : -1;
      bytes = end < 0 ? bytes + chunk.length : chunk.length - end;
      if (bytes > maxBytes) throw new Error(`the server sent more than ${maxBytes} bytes at once`);
      controller.enqueue(chunk);
    },
  });
}

/**
 * Returns the index after the last complete event in a chunk; -1 if the chunk completes no event. An empty line ends an event, with or
 * without carriage returns.
 */
function findLastEventEnd(chunk: Uint8Array): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  for (let at = text.lastIndexOf(lineBreak); at > 0; at = text.lastIndexOf(lineBreak, at - 1)) {
    if (text[at - 1] === lineBreak || (text[at - 1] === 0x0d && text[at - 2] === lineBreak)) return at + 1;
  }
  return -1;
}
